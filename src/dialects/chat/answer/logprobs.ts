import { arrayAt, type JsonObject, objectAt } from "../../../base/json.ts";
import type { TokenLogprob } from "../../../canon/reply.ts";
import { decodeTokens, encodeTokens } from "../../answer/token-logprobs.ts";

/** Log probabilities of a choice's content or of its refusal. */
export function decodeLogprobs(choice: unknown): TokenLogprob[] {
  const logprobs = objectAt(choice, "logprobs");
  return decodeTokens([...arrayAt(logprobs, "content"), ...arrayAt(logprobs, "refusal")]);
}

export const encodeLogprobs = (tokens: readonly TokenLogprob[]): JsonObject => ({
  content: encodeTokens(tokens),
  refusal: null,
});
