/** A reasoning count that exceeds the completion by less than this factor is a miscount, and is part of the completion. */
const MISCOUNT = 1.1;

interface ToldTokens {
  completion: number | undefined;
  reasoning: number | undefined;
  /** The total minus the prompt; below 0 if no total was reported. */
  behindPrompt: number;
  /** The host is known to exclude reasoning from the completion. */
  reasoningBeside?: boolean;
}

interface GeneratedTokens {
  said: number;
  thought: number | undefined;
}

/**
 * What was generated, for protocols whose completion should include reasoning. Some hosts exclude it; for others only the total
 * shows it. Undefined if the host reports nothing about its output.
 */
export function generatedTokens(told: ToldTokens): GeneratedTokens | undefined {
  const { completion, reasoning } = told;
  const generated = sumOf(told);
  // A host that reports nothing about its output has not produced it for free.
  if (completion === undefined && generated === 0) return undefined;
  const unsaid = completion !== undefined && generated > completion ? generated - completion : undefined;
  const thought = reasoning === undefined ? unsaid : Math.min(reasoning, generated);
  return { said: Math.max(0, generated - (thought ?? 0)), thought };
}

/** Never less than the completion (H27). */
function sumOf({ completion = 0, reasoning = 0, behindPrompt, reasoningBeside = false }: ToldTokens): number {
  if (reasoningBeside) return Math.max(completion + reasoning, behindPrompt);
  if (behindPrompt > completion) return behindPrompt;
  return reasoning > completion * MISCOUNT ? completion + reasoning : completion;
}
