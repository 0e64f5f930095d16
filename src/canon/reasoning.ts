/** One scale for how much a model should think before it answers. */
export const EFFORTS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof EFFORTS)[number];

/** An effort, an exact number of tokens, or the model's own choice. */
export type ReasoningAmount = Effort | "dynamic" | { budget: number };

export interface ReasoningRequest {
  amount?: ReasoningAmount;
  /** false: think, but do not show it. */
  show?: boolean;
  /** JSON path in the client's request. */
  path: string;
}

/** How much to think: who wants to see thoughts, and says no more, expects a model that thinks by itself. */
export const wantedAmount = ({ amount, show }: ReasoningRequest): ReasoningAmount | undefined =>
  amount ?? (show ? "dynamic" : undefined);

/** What each effort stands for in tokens. */
export const BUDGET_OF_EFFORT = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16384,
  xhigh: 24576,
  max: 32768,
} as const satisfies Record<Exclude<Effort, "off">, number>;

/** The nearest effort that is not above the budget, so that an effort comes back from its budget as itself. */
export function effortOfBudget(budget: number): Exclude<Effort, "off"> {
  const levels = Object.entries(BUDGET_OF_EFFORT) as [Exclude<Effort, "off">, number][];
  return levels.findLast(([, tokens]) => tokens <= budget)?.[0] ?? "minimal";
}

/** The nearest effort of those that a model knows: the same, else the next below, else the next above. */
export function nearestEffort(wanted: Effort, known: readonly Effort[]): Effort | undefined {
  const rank = (effort: Effort) => EFFORTS.indexOf(effort);
  const thinking = known.filter((effort) => effort !== "off");
  if (known.includes(wanted)) return wanted;
  if (wanted === "off") return thinking[0];
  return thinking.findLast((effort) => rank(effort) <= rank(wanted)) ?? thinking[0];
}
