import { isObject, type JsonObject } from "../../../json.ts";
import { emptyPrompt, type IncomingCall, type TextAdapter } from "../../../text/adapter.ts";
import { googleFailure, invalid, modelNotFound } from "../text/errors.ts";
import { readRequest } from "./read-request.ts";
import { renderInteraction } from "./render.ts";

function bodyOf({ body }: IncomingCall): JsonObject {
  if (!isObject(body)) throw invalid("Invalid JSON payload received. The root of the request must be an object.");
  return body;
}

/** Google's Interactions. The simulator keeps none of them: each request must hold all that it builds on. */
export function interactionsAdapter(nowMs: () => number): TextAdapter {
  return {
    family: "google",
    cachesMarkedOnly: false,
    read(call, model) {
      const { prompt, stream, showThoughts } = readRequest(bodyOf(call), model);
      return { prompt, stream, render: (plan) => renderInteraction(plan, model, { showThoughts }, nowMs()) };
    },
    readUnchecked: (call, model) => ({
      prompt: emptyPrompt(),
      stream: isObject(call.body) && call.body.stream === true,
      render: (plan) => renderInteraction(plan, model, { showThoughts: false }, nowMs()),
    }),
    notFound: (call) => modelNotFound("gemini", call.modelName, call.url.pathname),
    tooLong: (tokens, limit) =>
      invalid(`The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`),
    failure: (name, model) => googleFailure(name, model, "gemini"),
  };
}
