import { isObject, type JsonObject } from "../../../json.ts";
import { emptyPrompt, type IncomingCall, type SimulatedModel, type TextAdapter } from "../../../text/adapter.ts";
import { promptUnits, totalTokens } from "../../../text/prompt-units.ts";
import { bodyOf } from "../text/adapter.ts";
import { contextTooLong, openaiError, openaiFailure } from "../text/errors.ts";
import { readRequest } from "./read-request.ts";
import { type RenderOptions, renderResponses } from "./render.ts";

const PLAIN: RenderOptions = {
  obfuscate: false,
  summary: false,
  sealed: false,
  sources: false,
  topLogprobs: undefined,
  namespaces: new Map(),
  echo: {},
};

/** OpenAI's Responses. The simulator keeps no answers: each request must hold all that it builds on. */
export function responsesAdapter(nowMs: () => number): TextAdapter {
  return {
    family: "openai",
    cachesMarkedOnly: false,
    read(call, model) {
      const { prompt, stream, ...options } = readRequest(bodyOf(call), model);
      return { prompt, stream, render: (plan) => renderResponses(plan, model, options, nowMs()) };
    },
    readUnchecked: (call, model) => ({
      prompt: emptyPrompt(),
      stream: isObject(call.body) && call.body.stream === true,
      render: (plan) => renderResponses(plan, model, PLAIN, nowMs()),
    }),
    // Unlike chat, it answers 400 here.
    notFound: (call) =>
      openaiError(400, `The requested model '${call.modelName}' does not exist.`, {
        param: "model",
        code: "model_not_found",
      }),
    tooLong: contextTooLong,
    failure: openaiFailure,
  };
}

export function countInputTokens(call: IncomingCall, model: SimulatedModel): JsonObject {
  const { prompt } = readRequest(bodyOf(call), model);
  return { object: "response.input_tokens", input_tokens: totalTokens(promptUnits(prompt)) };
}
