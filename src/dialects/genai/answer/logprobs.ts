import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { TokenLogprob } from "../../../canon/reply.ts";

/** `logprobsResult`: the chosen tokens, each with the most likely ones. */
export function decodeLogprobs(candidate: JsonObject | undefined): TokenLogprob[] {
  const result = objectAt(candidate, "logprobsResult");
  const alternatives = arrayAt(result, "topCandidates");
  return arrayAt(result, "chosenCandidates").map((chosen, index) => {
    const top = arrayAt(alternatives[index], "candidates").map(decodeToken);
    return { ...decodeToken(chosen), ...(top.length > 0 ? { top } : {}) };
  });
}

/** This protocol omits a value of 0, which means certainty. */
const decodeToken = (token: unknown): { token: string; logprob: number } => ({
  token: stringAt(token, "token") ?? "",
  logprob: numberAt(token, "logProbability") ?? 0,
});

export function encodeLogprobs(tokens: readonly TokenLogprob[]): { logprobsResult?: JsonObject } {
  if (tokens.length === 0) return {};
  const wire = ({ token, logprob }: { token: string; logprob: number }) => ({ token, logProbability: logprob });
  return {
    logprobsResult: {
      topCandidates: tokens.map(({ top }) => ({ candidates: (top ?? []).map(wire) })),
      chosenCandidates: tokens.map(wire),
    },
  };
}
