const MS_PER_SECOND = 1000;

/** A duration such as "9.5s", in milliseconds. Undefined if the text has another form. */
export function decodeDuration(raw: unknown): number | undefined {
  const seconds = typeof raw === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(raw)?.[1] : undefined;
  return seconds === undefined ? undefined : Math.round(Number(seconds) * MS_PER_SECOND);
}

export const encodeDuration = (ms: number): string => `${Math.max(0, ms) / MS_PER_SECOND}s`;
