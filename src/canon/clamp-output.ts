/** Lowers the requested output limit to the model's limit, and calls `lowered` with the reason if it had to. */
export function clampOutput(wanted: number, limit: number | undefined, lowered: (reason: string) => void): number {
  if (limit === undefined || wanted <= limit) return wanted;
  lowered(`the model's limit is ${limit}`);
  return limit;
}
