import { objectAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { findValue } from "../../wire/json-text.ts";
import type { ListedAnswers } from "../answer/listed-answers.ts";
import { pathTo } from "../reading/explain-mismatch.ts";

const ID_PREFIX = "chatcmpl-";

/** The vendor's limits of what is stored. */
const MAX_NAME = 64;
const MAX_VALUE = 512;

/** Values other than text are kept as JSON, because filters compare text. */
function textPair([name, value]: [string, unknown]): [string, string] {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (name.length <= MAX_NAME && text.length <= MAX_VALUE) return [name, text];
  const path = pathTo("metadata", name.slice(0, MAX_NAME));
  const message = `${path} is too long: with store, a name can have ${MAX_NAME} characters and a value ${MAX_VALUE}.`;
  throw new GatewayError("invalid_request", message, { path });
}

/** Completions that are stored with `store: true`, to be listed and shown later. */
export const listedCompletions: ListedAnswers = {
  keeps: (body) => body["store"] === true,
  own: ({ text }) => {
    const span = findValue(text, ["messages"]);
    return span === undefined ? "[]" : text.slice(span.start, span.end);
  },
  makeId: (random) => `${ID_PREFIX}${random}`,
  metadata: (body) => Object.fromEntries(Object.entries(objectAt(body, "metadata") ?? {}).map(textPair)),
  modelOf: (answer) => stringAt(answer, "model") ?? "",
};
