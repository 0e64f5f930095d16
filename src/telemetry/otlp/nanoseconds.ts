let lastSecond = Number.NaN;
let lastText = "";

/** Nanoseconds since 1970, which no double holds. In two parts, each of few digits: the first is that of the last call, mostly. */
export function nanoseconds(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = String(second);
  }
  const rest = Math.floor((ms - second * 1000) * 1e6);
  return lastText + String(1_000_000_000 + rest).slice(1);
}
