import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import { tokensCover } from "../settle/tokens-cover.ts";

/** No model reads less of a text than this; what is longer may be cut at the model's own limit. */
const SMALLEST_WINDOW = 256;

/** Whether so many characters can have been read for what is reported (H27). */
export const readsAll =
  (characters: number) =>
  (reported: Usage): boolean => {
    const tokens = promptTokens(reported);
    return tokens >= SMALLEST_WINDOW || tokensCover(tokens, characters);
  };

/** Whether so many characters can have been spoken, or written. */
export const makesAll =
  (characters: number) =>
  (reported: Usage): boolean =>
    tokensCover(completionTokens(reported), characters);
