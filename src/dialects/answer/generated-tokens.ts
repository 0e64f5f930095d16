/** A count of reasoning that is above the completion's by less than this was miscounted, and stands inside it. */
const MISCOUNT = 1.1;

interface ToldTokens {
  completion: number | undefined;
  reasoning: number | undefined;
  /** What the total has in addition to the prompt; below 0 where no total was reported. */
  behindPrompt: number;
  /** The host is known to leave reasoning out of the completion. */
  reasoningBeside?: boolean;
}

interface GeneratedTokens {
  said: number;
  thought: number | undefined;
}

/**
 * What was generated, of protocols whose completion should include reasoning. Some hosts leave it out; of others only the total
 * tells. Undefined where the host says nothing of its answer.
 */
export function generatedTokens(told: ToldTokens): GeneratedTokens | undefined {
  const { completion, reasoning } = told;
  const generated = sumOf(told);
  // A host that tells nothing of its answer has not made it for nothing.
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
