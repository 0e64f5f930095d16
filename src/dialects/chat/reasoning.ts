/** Efforts and the budgets they stand for; a budget is told as the nearest effort not above it, so a round trip is exact. */
const BUDGETS = [
  ["minimal", 1024],
  ["low", 2048],
  ["medium", 8192],
  ["high", 16384],
  ["xhigh", 24576],
  ["max", 32768],
] as const;

export function nearestEffort(budget: number): string {
  return BUDGETS.findLast(([, tokens]) => tokens <= budget)?.[0] ?? "minimal";
}
