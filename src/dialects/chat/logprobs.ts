import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import type { TokenLogprob } from "../../canon/reply.ts";

/** A choice's log probabilities: those of its content, and those of a refusal in its place. */
export function decodeLogprobs(choice: unknown): TokenLogprob[] {
  const logprobs = objectAt(choice, "logprobs");
  return [...arrayAt(logprobs, "content"), ...arrayAt(logprobs, "refusal")].flatMap((raw) => {
    const token = decodeToken(raw);
    if (token === undefined) return [];
    const top = arrayAt(raw, "top_logprobs").flatMap((alternative) => decodeToken(alternative) ?? []);
    return [{ ...token, ...(top.length > 0 ? { top } : {}) }];
  });
}

type Token = Omit<TokenLogprob, "top">;

function decodeToken(raw: unknown): Token | undefined {
  const token = stringAt(raw, "token");
  const logprob = numberAt(raw, "logprob");
  if (token === undefined || logprob === undefined) return undefined;
  const bytes = arrayAt(raw, "bytes") as readonly number[];
  return { token, logprob, ...(bytes.length > 0 ? { bytes } : {}) };
}

export function encodeLogprobs(tokens: readonly TokenLogprob[]): JsonObject {
  return {
    content: tokens.map(({ top = [], ...token }) => ({ ...encodeToken(token), top_logprobs: top.map(encodeToken) })),
    refusal: null,
  };
}

const encodeToken = ({ token, logprob, bytes }: Token): JsonObject => ({
  token,
  logprob,
  bytes: bytes ?? [...Buffer.from(token)],
});
