let body: string | undefined;

/** The body of a request for the next page, which is too long for an address. */
export function handOver(text: string): void {
  body = text;
}

/** Returns it once. */
export function takeHandedOver(): string | undefined {
  const taken = body;
  body = undefined;
  return taken;
}
