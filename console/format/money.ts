const NANO = 1_000_000_000;

/** Formats nano-dollars as dollars, rounded half away from zero. The fraction is never a float. */
export function usd(nano: number, decimals: number): string {
  const unit = 10 ** (9 - decimals);
  const rounded = Math.round(Math.abs(nano) / unit) * unit;
  const whole = Math.floor(rounded / NANO);
  const fraction = String(rounded % NANO)
    .padStart(9, "0")
    .slice(0, decimals);
  const sign = nano < 0 && rounded > 0 ? "−" : "";
  return `${sign}$${whole.toLocaleString("en-US")}${decimals === 0 ? "" : `.${fraction}`}`;
}

/** Three significant digits below one dollar, cents above, and whole dollars above a thousand. */
export function money(nano: number): string {
  const size = Math.abs(nano);
  if (size === 0) return "$0";
  if (size >= 1_000 * NANO) return usd(nano, 0);
  if (size >= NANO) return usd(nano, 2);
  return usd(nano, Math.min(9, 11 - Math.floor(Math.log10(size))));
}
