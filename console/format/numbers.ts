const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });
const ONE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

export const whole = (value: number): string => WHOLE.format(value);

/** Compact, such as `1.24M`. */
export const short = (value: number): string => (Math.abs(value) < 10_000 ? WHOLE.format(value) : SHORT.format(value));

/** An unknown value is shown as a dash. */
export const known = (value: number | null, format: (value: number) => string = whole): string =>
  value === null ? "–" : format(value);

export const decimal = (value: number): string => (Math.abs(value) >= 100 ? WHOLE.format(value) : ONE.format(value));

export function percent(part: number, all: number): string {
  if (all === 0) return "–";
  const share = (part / all) * 100;
  if (share === 0) return "0%";
  return share < 0.1 ? "< 0.1%" : `${share < 10 ? share.toFixed(1) : Math.round(share)}%`;
}

const BYTE_UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** A size in the largest unit that fits. */
export function bytes(size: number): string {
  let [value, unit] = [size, 0];
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? whole(value) : decimal(value)} ${BYTE_UNITS[unit]}`;
}

/** A duration in the largest unit that fits. */
export function duration(ms: number): string {
  if (ms < 0.95) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes} min ${String(Math.floor((ms % 60_000) / 1_000)).padStart(2, "0")} s`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** Tokens per second; `null` if unknown. */
export function speed(tokens: number | null, firstContentMs: number | null, totalMs: number): number | null {
  const spentMs = totalMs - (firstContentMs ?? 0);
  return tokens === null || tokens < 2 || spentMs < 1 ? null : (tokens / spentMs) * 1_000;
}

/** `1 call`, `2 calls` */
export const counted = (count: number, word: string): string => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;
