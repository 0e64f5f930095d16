// https://platform.openai.com/docs/api-reference/completions

import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { eventWeight } from "../../base/text-weight.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { decodeErrorObject } from "../../dialects/answer/error-object.ts";
import { decodeUsage } from "../../dialects/chat/answer/usage.ts";
import type { CompletionAdapter } from "../../services/completion/completion-adapter.ts";
import type { CompletionPart } from "../../services/completion/completion-part.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { OPENAI_CODES } from "./errors.ts";

export const openaiCompletions = (serves: (model: string) => boolean): CompletionAdapter => ({
  serves,
  submit: (body, { model }) => ({
    method: "POST",
    url: "/completions",
    headers: { accept: body["stream"] === true ? "text/event-stream" : "application/json" },
    body: { json: { ...body, model, ...streamOptions(body) } },
  }),
  read: ({ body }) => {
    if (body === undefined || !Array.isArray(body["choices"])) throw emptyAnswer("choices");
    return partOf(body);
  },
  readEvent: (event) => {
    if (isObject(event["error"])) throw decodeErrorObject(event, 200);
    return partOf(event);
  },
  error: (answer) => mediaFailure(answer, OPENAI_CODES),
});

/** A stream reports usage only on request. */
const streamOptions = (body: JsonObject): JsonObject =>
  body["stream"] === true ? { stream_options: { ...objectAt(body, "stream_options"), include_usage: true } } : {};

function partOf(body: JsonObject): CompletionPart {
  const choices = arrayAt(body, "choices");
  const usage = decodeUsage(objectAt(body, "usage"));
  return {
    body,
    characters: choices.reduce<number>((sum, choice) => sum + eventWeight(stringAt(choice, "text") ?? ""), 0),
    finished: choices.filter((choice) => isObject(choice) && typeof choice["finish_reason"] === "string").length,
    usageAlone: choices.length === 0 && usage !== undefined,
    ...withoutAbsent({ usage }),
  };
}
