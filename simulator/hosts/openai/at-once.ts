import type { HostError } from "../../host-error.ts";
import type { AtOnce } from "../../media/play-fate.ts";
import { openaiFailure } from "./text/errors.ts";

/** The fates that are refusals on the spot, in OpenAI's words. */
export function wordsAtOnce(model: string, blocked: HostError): AtOnce {
  return {
    blocked,
    busy: openaiFailure("429", model),
    broken: openaiFailure("500", model),
    overloaded: openaiFailure("503", model),
  };
}
