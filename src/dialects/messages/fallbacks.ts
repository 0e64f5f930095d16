// https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback

import { isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import { refuse } from "../reading/check.ts";
import type { FallbackChain, FallbackModelEntry, ModelFallbacks } from "../request/model-fallbacks.ts";
import { JoinedAnswer } from "./answer/joined-answer.ts";

const FIELD = "fallbacks";
const CREDIT = "fallback_credit_token";

/** Each entry may cost a whole call. The vendor documents no limit. */
const MAX_ENTRIES = 8;

/** What an entry may change for its model. */
const SETTINGS: ReadonlySet<string> = new Set(["model", "max_tokens", "output_config", "speed", "thinking"]);

/** `fallbacks`: models that answer in turn if the requested one declines for policy reasons. */
export const messagesFallbacks: ModelFallbacks = {
  field: FIELD,
  read: (body, usual) => {
    // Without a usual fallback, `"default"` is noted and only the requested model answers.
    const value = body[FIELD] === "default" ? usual && [{ model: usual }] : body[FIELD];
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value)) refuse(FIELD, 'must be a list of objects with a model, or "default"');
    if (value.length === 0) return undefined;
    if (value.length > MAX_ENTRIES) refuse(FIELD, `must have at most ${MAX_ENTRIES} entries; it has ${value.length}`);
    if (body[CREDIT] !== undefined && body[CREDIT] !== null) {
      refuse(CREDIT, `cannot be combined with ${FIELD}; send only one of them`);
    }
    return chainOf(value, body);
  },
};

function chainOf(values: readonly unknown[], body: JsonObject): FallbackChain {
  const notes: FieldNote[] = [];
  const entries = values.map((value, index): FallbackModelEntry => {
    const at = `${FIELD}[${index}]`;
    if (!isObject(value)) refuse(at, "must be an object with a model");
    const model = stringAt(value, "model");
    if (!model) refuse(`${at}.model`, "must be the name of a model");
    const limit = value["max_tokens"];
    if (limit !== undefined && limit !== null && !(Number.isInteger(limit) && Number(limit) > 0)) {
      refuse(`${at}.max_tokens`, "must be a whole number above 0, or null");
    }
    for (const name of ["output_config", "thinking"]) {
      const setting = value[name];
      if (setting !== undefined && setting !== null && !isObject(setting)) {
        refuse(`${at}.${name}`, "must be an object, or null");
      }
    }
    for (const name of Object.keys(value)) {
      if (!SETTINGS.has(name)) notes.push({ path: `${at}.${name}`, action: "dropped", reason: UNKNOWN });
    }
    return { model, path: `${at}.model`, request: (text) => patched(text, body, value) };
  });
  return { entries, notes, begin: (model) => new JoinedAnswer(model) };
}

const UNKNOWN = "a fallback model has no such setting";

/**
 * The request for an entry's model. A setting of the entry replaces that of the request, null removes it. Every entry changes the
 * client's own request, never that of the entry before.
 */
function patched(text: string, body: JsonObject, entry: JsonObject): string {
  const edit = new ObjectEdit(text).remove(FIELD).set("model", JSON.stringify(entry["model"]));
  // Without a limit of its own the model gets that of the request, which requires one.
  if (typeof entry["max_tokens"] === "number") edit.set("max_tokens", String(entry["max_tokens"]));
  // Fast mode is sold by model, so it is used only where the entry says so.
  change(edit, "speed", entry["speed"] ?? null);
  const between = stringAt(objectAt(body, "thinking"), "type") === "between_tools";
  change(edit, "thinking", entry["thinking"] === undefined && between ? { type: "disabled" } : entry["thinking"]);
  change(edit, "output_config", merged(objectAt(body, "output_config"), entry["output_config"]));
  return edit.toString();
}

function change(edit: ObjectEdit, key: string, value: unknown): void {
  if (value === null) edit.remove(key);
  else if (value !== undefined) edit.set(key, JSON.stringify(value));
}

/** The members of `output_config` replace or remove those of the request one by one. */
function merged(asked: JsonObject | undefined, own: unknown): unknown {
  if (!isObject(own)) return own;
  const config = Object.entries({ ...asked, ...own }).filter(([, value]) => value !== null);
  return config.length === 0 ? null : Object.fromEntries(config);
}
