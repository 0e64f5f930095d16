import { arrayAt, type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import type { TokenLogprob } from "../../canon/reply.ts";

/** Log probabilities as `chat` and `responses` write them: a list of tokens, each with its alternatives. */
export function decodeTokens(tokens: readonly unknown[]): TokenLogprob[] {
  return tokens.flatMap((raw) => {
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

export const encodeTokens = (tokens: readonly TokenLogprob[]): JsonObject[] =>
  tokens.map(({ top = [], ...token }) => ({ ...encodeToken(token), top_logprobs: top.map(encodeToken) }));

const encodeToken = ({ token, logprob, bytes }: Token): JsonObject => ({
  token,
  logprob,
  bytes: bytes ?? [...Buffer.from(token)],
});
