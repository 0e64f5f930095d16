import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import { tokensCover } from "../settle/tokens-cover.ts";

/** The smallest context of any model. Longer text may be cut at the model's limit. */
const SMALLEST_WINDOW = 256;

/** Whether the reported usage can cover this much input (H27). */
export const readsAll =
  (characters: number) =>
  (reported: Usage): boolean => {
    const tokens = promptTokens(reported);
    return tokens >= SMALLEST_WINDOW || tokensCover(tokens, characters);
  };

/** Whether the reported usage can cover this much output. */
export const makesAll =
  (characters: number) =>
  (reported: Usage): boolean =>
    tokensCover(completionTokens(reported), characters);
