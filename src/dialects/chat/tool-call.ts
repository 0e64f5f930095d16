import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { Fields } from "../../canon/fields.ts";
import type { NativePart, ToolCallPart } from "../../canon/part.ts";
import { argumentsText } from "../answer/arguments-text.ts";
import { takeExtras } from "./part-fields.ts";

/** Whether assembled arguments are a complete object. */
export function isWholeInput(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Still incomplete.
    return false;
  }
}

/** Providers include an empty call of the oldest form in messages without calls. */
export const callsNothing = (legacy: unknown): boolean => !stringAt(legacy, "name") && !stringAt(legacy, "arguments");

/** Whether a message has a tool call with incomplete arguments. */
export function hasBrokenCall(message: unknown): boolean {
  const called = arrayAt(message, "tool_calls").map((call) => objectAt(call, "function"));
  return called.some((call) => call !== undefined && !isWholeInput(argumentsText(call["arguments"]) || "{}"));
}

/** A whole tool call of a message. Kinds that the contract does not list stay as they are. */
export function decodeToolCall(raw: unknown, makeId: () => string, path?: string): ToolCallPart | NativePart {
  const fields = new Fields(raw);
  const type = fields.string("type") ?? "function";
  const located = path === undefined ? {} : { path };
  const inner = new Fields(type === "custom" ? fields.object("custom") : fields.object("function"));
  const name = inner.string("name");
  if (name === undefined) {
    return { type: "native", dialect: "chat", name: type, raw: { tool_calls: [raw] }, ...located };
  }
  const custom = type === "custom";
  const input = argumentsText(inner.take(custom ? "input" : "arguments"));
  const id = fields.string("id") || makeId();
  // Some providers number whole calls like fragments.
  fields.skip("index");
  const kind = custom ? { custom } : {};
  return { type: "tool-call", id, name, input, ...kind, ...located, ...takeExtras(fields, type, inner) };
}

/** Missing arguments become an empty object, because clients and providers parse them. */
export function encodeToolCall({ id, name, input, custom }: Omit<ToolCallPart, "type">): JsonObject {
  if (custom) return { id, type: "custom", custom: { name, input } };
  return { id, type: "function", function: { name, arguments: input === "" ? "{}" : input } };
}

/** A signature inside a tool call, found by a path of keys. */
export function signatureAt(call: unknown, keys: readonly string[] | undefined): string | undefined {
  if (keys === undefined) return undefined;
  const last = keys.at(-1);
  const holder = keys.slice(0, -1).reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), call);
  return last === undefined ? undefined : stringAt(holder, last);
}

export function withSignatureAt(call: JsonObject, keys: readonly string[], value: string): JsonObject {
  const [key, ...rest] = keys;
  if (key === undefined) return call;
  const inner = call[key];
  return { ...call, [key]: rest.length === 0 ? value : withSignatureAt(isObject(inner) ? inner : {}, rest, value) };
}
