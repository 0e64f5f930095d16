import type { HostError } from "../../host-error.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";
import { openaiFailure } from "./text/errors.ts";

/** The outcomes that are immediate errors, in OpenAI's words. */
export function immediateErrors(model: string, blocked: HostError): ImmediateErrors {
  return {
    blocked,
    busy: openaiFailure("429", model),
    broken: openaiFailure("500", model),
    overloaded: openaiFailure("503", model),
  };
}
