import type { HostError } from "../../../host-error.ts";
import { isObject, type JsonObject } from "../../../json.ts";
import {
  emptyPrompt,
  type IncomingCall,
  type ReadCall,
  type SimulatedModel,
  type TextAdapter,
} from "../../../text/adapter.ts";
import { contextTooLong, invalid, modelNotFound, openaiFailure } from "./errors.ts";
import { checkCallIds } from "./read-messages.ts";
import { readRequest } from "./read-request.ts";
import { renderChat } from "./render.ts";

export function bodyOf(call: IncomingCall): JsonObject {
  if (!isObject(call.body)) throw invalid("The request body must be a JSON object.", null, null);
  return call.body;
}

/** OpenAI's chat completions. */
export function openaiAdapter(nowMs: () => number): TextAdapter {
  return {
    family: "openai",
    cachesMarkedOnly: false,
    read(call, model): ReadCall {
      const body = bodyOf(call);
      checkCallIds(body.messages);
      const { prompt, stream, ...rest } = readRequest(body, model);
      const options = { ...rest, showThinking: prompt.thinking === "shown" };
      return { prompt, stream, render: (plan) => renderChat(plan, model, options, nowMs()) };
    },
    readUnchecked(call: IncomingCall, model: SimulatedModel): ReadCall {
      const options = {
        includeUsage: true,
        obfuscate: false,
        topLogprobs: undefined,
        showThinking: false,
        spoken: undefined,
      };
      return {
        prompt: emptyPrompt(),
        stream: isObject(call.body) && call.body.stream === true,
        render: (plan) => renderChat(plan, model, options, nowMs()),
      };
    },
    notFound: (call): HostError => modelNotFound(call.modelName),
    tooLong: contextTooLong,
    failure: openaiFailure,
  };
}
