const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A whole number of seconds, minutes, hours or days. */
export const DURATION_PATTERN = "^[1-9]\\d{0,5}[smhd]$";

/** The milliseconds of a duration that matches the pattern. */
export const durationMs = (text: string): number => Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0);
