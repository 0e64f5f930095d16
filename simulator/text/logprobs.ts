import type { Seed } from "../seed.ts";
import { tokenize } from "./tokens.ts";

export interface TokenLogprob {
  token: string;
  logprob: number;
}

const ALTERNATIVES = [" the", " a", " not", " of", " three", " road", " and", " is", " it", " in"];

/** Plausible numbers: the token that was said is likely, the others ever less so. `from` counts the tokens before. */
export function tokenLogprobs(
  text: string,
  seed: Seed,
  top: number,
  from: number,
): (TokenLogprob & { top: TokenLogprob[] })[] {
  return tokenize(text).map((token, at) => {
    const logprob = -(1 + seed.number(`logprob ${from + at}`, 4_000)) / 10_000;
    const others = ALTERNATIVES.filter((other) => other !== token);
    const candidates = [{ token, logprob }];
    for (let rank = 1; rank < top; rank += 1) {
      const other = others[rank - 1] ?? ` ${seed.token(`other ${from + at} ${rank}`, 4)}`;
      candidates.push({ token: other, logprob: logprob - rank * 1.5 });
    }
    return { token, logprob, top: candidates.slice(0, top) };
  });
}
