import { isObject, type Json, type JsonObject } from "../../../json.ts";
import {
  emptyPrompt,
  type IncomingCall,
  type ReadCall,
  type SimulatedModel,
  type TextAdapter,
} from "../../../text/adapter.ts";
import { promptUnits, totalTokens } from "../../../text/prompt-units.ts";
import { anthropicFailure, invalid, modelNotFound, promptTooLong } from "./errors.ts";
import { readPrompt, readRequest } from "./read-request.ts";
import { renderMessage } from "./render.ts";

function bodyOf(call: IncomingCall): JsonObject {
  if (!isObject(call.body)) throw invalid("", "Input should be a valid dictionary");
  return call.body;
}

/** Anthropic's messages. */
export const anthropicAdapter: TextAdapter = {
  family: "anthropic",
  cachesMarkedOnly: true,
  read(call, model): ReadCall {
    const { prompt, stream } = readRequest(bodyOf(call), call.headers, model);
    return { prompt, stream, render: (plan) => renderMessage(plan, model, prompt.thinking === "omitted") };
  },
  readUnchecked(call: IncomingCall, model: SimulatedModel): ReadCall {
    return {
      prompt: emptyPrompt(),
      stream: isObject(call.body) && call.body.stream === true,
      render: (plan) => renderMessage(plan, model, false),
    };
  },
  notFound: (call) => modelNotFound(call.modelName),
  tooLong: promptTooLong,
  failure: anthropicFailure,
};

/** The answer of count_tokens. */
export function countMessageTokens(call: IncomingCall, model: SimulatedModel): Json {
  const prompt = readPrompt(bodyOf(call), call.headers, model, Number.MAX_SAFE_INTEGER);
  return { input_tokens: totalTokens(promptUnits(prompt)) };
}
