/** The scale for how much a model should think before it answers. */
export const EFFORTS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof EFFORTS)[number];

/** An effort, an exact number of tokens, or the model's own choice. */
export type ReasoningAmount = Effort | "dynamic" | { budget: number };

export interface ReasoningRequest {
  amount?: ReasoningAmount;
  /** false: think, but do not show the thoughts. */
  show?: boolean;
  /** JSON path in the client's request. */
  path: string;
}

/** How much to think. A client that requests thoughts without an amount expects the model to decide. */
export const wantedAmount = ({ amount, show }: ReasoningRequest): ReasoningAmount | undefined =>
  amount ?? (show ? "dynamic" : undefined);

/** The token budget of each effort. */
export const BUDGET_OF_EFFORT = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16384,
  xhigh: 24576,
  max: 32768,
} as const satisfies Record<Exclude<Effort, "off">, number>;

/** The highest effort that does not exceed the budget, so that converting an effort to a budget and back returns the effort. */
export function effortOfBudget(budget: number): Exclude<Effort, "off"> {
  const levels = Object.entries(BUDGET_OF_EFFORT) as [Exclude<Effort, "off">, number][];
  return levels.findLast(([, tokens]) => tokens <= budget)?.[0] ?? "minimal";
}

/** The nearest supported effort: the same, or else the next lower, or else the next higher. */
export function nearestEffort(wanted: Effort, known: readonly Effort[]): Effort | undefined {
  const rank = (effort: Effort) => EFFORTS.indexOf(effort);
  const thinking = known.filter((effort) => effort !== "off");
  if (known.includes(wanted)) return wanted;
  if (wanted === "off") return thinking[0];
  return thinking.findLast((effort) => rank(effort) <= rank(wanted)) ?? thinking[0];
}
