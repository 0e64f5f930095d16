import type { HostError } from "../../host-error.ts";
import type { AtOnce } from "../../media/play-outcome.ts";
import { openaiFailure } from "./text/errors.ts";

/** The outcomes that are immediate errors, in OpenAI's words. */
export function wordsAtOnce(model: string, blocked: HostError): AtOnce {
  return {
    blocked,
    busy: openaiFailure("429", model),
    broken: openaiFailure("500", model),
    overloaded: openaiFailure("503", model),
  };
}
