/** Which keys are good. Without a key of its own the simulator takes any that does not call itself wrong. */
export class Credentials {
  readonly #apiKey: string | undefined;

  constructor(apiKey: string | undefined) {
    this.#apiKey = apiKey;
  }

  accepts(key: string): boolean {
    return this.#apiKey === undefined ? key !== "" && !key.includes("wrong") : key === this.#apiKey;
  }
}

export function bearerOf(headers: Headers): string | undefined {
  return /^Bearer\s+(.*)$/i.exec(headers.get("authorization") ?? "")?.[1]?.trim();
}
