const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar for each value, at most `cells` long; every value above zero is visible. */
export function bars(values: readonly number[], cells: number): string[] {
  const largest = Math.max(0, ...values);
  return values.map((value) => {
    if (value <= 0 || largest === 0) return "";
    const eighths = Math.max(1, Math.round((value / largest) * cells * 8));
    return "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  });
}
