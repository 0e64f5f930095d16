/** The output limit that a request asks for, as the model takes it. Where that is less, `lowered` hears why. */
export function clampOutput(wanted: number, limit: number | undefined, lowered: (reason: string) => void): number {
  if (limit === undefined || wanted <= limit) return wanted;
  lowered(`the model's limit is ${limit}`);
  return limit;
}
