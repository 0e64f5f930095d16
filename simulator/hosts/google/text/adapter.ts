import { isObject, type Json, type JsonObject } from "../../../json.ts";
import {
  emptyPrompt,
  type IncomingCall,
  type ReadCall,
  type SimulatedModel,
  type TextAdapter,
} from "../../../text/adapter.ts";
import { promptUnits, totalTokens } from "../../../text/prompt-units.ts";
import type { StoredCaches } from "../stored-caches.ts";
import { type GoogleHost, googleFailure, invalid, modelNotFound } from "./errors.ts";
import { withCamelNames } from "./proto-json.ts";
import { readRequest } from "./read-request.ts";
import { type RenderOptions, renderGoogle } from "./render.ts";

function bodyOf(call: IncomingCall): JsonObject {
  const body = withCamelNames(call.body);
  if (!isObject(body)) throw invalid("Invalid JSON payload received. The root of the request must be an object.");
  return body;
}

export function isStream(call: IncomingCall): boolean {
  return call.url.pathname.endsWith(":streamGenerateContent");
}

export function wantsEvents(call: IncomingCall): boolean {
  return call.url.searchParams.get("alt") === "sse";
}

/** Google's generateContent, on either of its hosts. */
export function googleAdapter(host: GoogleHost, nowMs: () => number, caches: StoredCaches): TextAdapter {
  const plain = (call: IncomingCall): RenderOptions => ({
    host,
    showThoughts: false,
    streamArguments: false,
    topLogprobs: undefined,
    events: wantsEvents(call),
  });
  return {
    family: "google",
    cachesMarkedOnly: false,
    read(call, model): ReadCall {
      const { prompt, streamArguments, topLogprobs } = readRequest(bodyOf(call), model, host, (name) =>
        caches.tokensFor(call, name),
      );
      const showThoughts = prompt.thinking === "shown";
      const options = { ...plain(call), showThoughts, streamArguments, topLogprobs };
      return { prompt, stream: isStream(call), render: (plan) => renderGoogle(plan, model, options, nowMs()) };
    },
    readUnchecked(call: IncomingCall, model: SimulatedModel): ReadCall {
      return {
        prompt: emptyPrompt(),
        stream: isStream(call),
        render: (plan) => renderGoogle(plan, model, plain(call), nowMs()),
      };
    },
    notFound: (call) => modelNotFound(host, call.modelName, call.url.pathname),
    tooLong: (tokens, limit) =>
      invalid(`The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`),
    failure: (name, model) => googleFailure(name, model, host),
  };
}

/** The answer of countTokens, which takes a bare conversation or, on Gemini, a whole request. */
export function countContentTokens(
  call: IncomingCall,
  model: SimulatedModel,
  host: GoogleHost,
  caches: StoredCaches,
): Json {
  const body = bodyOf(call);
  const inner = isObject(body.generateContentRequest) ? body.generateContentRequest : body;
  const { prompt } = readRequest(inner, model, host, (name) => caches.tokensFor(call, name));
  const total = totalTokens(promptUnits(prompt));
  return {
    totalTokens: total,
    ...(host === "vertex" ? { totalBillableCharacters: total * 4 } : {}),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: total }],
  };
}
