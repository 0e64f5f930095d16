import type { HostError } from "../../../host-error.ts";
import { type Media, remoteMedia } from "../../../inspect-media.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { Seed } from "../../../seed.ts";
import type { Prompt, PromptPart, Turn } from "../../../text/prompt.ts";
import { seal, unseal } from "../../../text/signature.ts";
import { badValue, missing, requireArray, requireObject, requireString, wrongType } from "../text/check.ts";
import { invalid } from "../text/errors.ts";
import { badImage, mediaFromDataUrl } from "../text/read-messages.ts";

const MAX_ID_CHARACTERS = 64;
const ROLES = ["user", "assistant", "system", "developer"];

const SEALED = "openai responses";

/** A sealed value is bound to the id of its item. */
export const sealThought = (id: string, thought: string, seed: Seed): string => seal(SEALED, `${id}\n${thought}`, seed);

/** Items of server tools, as they come back: they count as tokens, and do not change the answer. */
const SERVER_ITEMS: ReadonlySet<Json | undefined> = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_list_tools",
  "mcp_call",
  "tool_search_call",
  "tool_search_output",
  "compaction",
  "program",
  "program_output",
]);

/** Items of the client that are not part of the conversation. */
const SETTINGS: ReadonlySet<Json | undefined> = new Set(["additional_tools", "configuration_update"]);

export type Input = Pick<Prompt, "system" | "turns">;

/** Follows calls and their results: every call has its output, every output its call. */
class Calls {
  readonly #nameById = new Map<string, string>();
  readonly #open = new Map<string, string>();

  begin(id: string, name: string, kind: string): void {
    this.#nameById.set(id, name);
    this.#open.set(id, kind);
  }

  answer(id: string, param: string): string {
    const name = this.#nameById.get(id);
    if (name === undefined) {
      throw invalid(`No tool call found for function call output with call_id ${id}.`, param, null);
    }
    this.#open.delete(id);
    return name;
  }

  mustBeClosed(): void {
    const [open] = this.#open.keys();
    if (open !== undefined) throw invalid(`No tool output found for function call ${open}.`, "input", null);
  }
}

/** `input` in the simulator's words, checked as the host does. */
export function readInput(value: Json | undefined): Input {
  if (value === undefined || value === null) throw missing("input");
  if (typeof value === "string")
    return { system: [], turns: [{ role: "user", parts: [{ type: "text", text: value }] }] };
  if (!Array.isArray(value)) throw wrongType(value, "one of a string or array of objects", "input");
  if (value.length === 0) throw missing("input");
  const system: Prompt["system"] = [];
  const turns: Turn[] = [];
  const calls = new Calls();
  for (const [at, one] of value.entries()) {
    const param = `input[${at}]`;
    const item = requireObject(one, param);
    checkLength(item.id, `${param}.id`);
    if (SETTINGS.has(item.type)) continue;
    const read = readItem(item, param, calls);
    if (typeof read === "string") system.push({ text: read });
    else turns.push(read);
  }
  calls.mustBeClosed();
  checkFollowing(value);
  return { system, turns };
}

function checkLength(id: Json | undefined, param: string): void {
  if (typeof id !== "string" || id.length <= MAX_ID_CHARACTERS) return;
  throw invalid(
    `Invalid '${param}': string too long. Expected a string with maximum length ${MAX_ID_CHARACTERS}, but got a string with length ${id.length} instead.`,
    param,
    "string_above_max_length",
  );
}

function readItem(item: JsonObject, param: string, calls: Calls): Turn | string {
  switch (item.type) {
    case undefined:
    case null:
    case "message":
      return readMessage(item, param);
    case "function_call":
    case "custom_tool_call":
      return { role: "assistant", parts: [readCall(item, param, calls)] };
    case "function_call_output":
    case "custom_tool_call_output":
      return { role: "user", parts: [readOutput(item, param, calls)] };
    case "reasoning":
      return { role: "assistant", parts: [readReasoning(item, param)] };
    case "item_reference":
      throw notPersisted(String(item.id), param);
    default:
      if (!SERVER_ITEMS.has(item.type)) {
        throw badValue(item.type, ["message", "function_call", "function_call_output", "reasoning"], `${param}.type`);
      }
      return { role: "assistant", parts: [{ type: "past", text: JSON.stringify(item) }] };
  }
}

function readMessage(item: JsonObject, param: string): Turn | string {
  const role = requireString(item.role, `${param}.role`);
  if (!ROLES.includes(role)) throw badValue(role, ROLES, `${param}.role`);
  const parts = readContent(item.content, `${param}.content`, role);
  if (role === "user" || role === "assistant") return { role, parts };
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

function readContent(content: Json | undefined, param: string, role: string): PromptPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return requireArray(content, param).map((part, at) => {
    const inner = requireObject(part, `${param}[${at}]`);
    return role === "assistant" ? readSaid(inner, `${param}[${at}]`) : readGiven(inner, `${param}[${at}]`);
  });
}

function readSaid(part: JsonObject, param: string): PromptPart {
  if (part.type === "output_text") return { type: "text", text: requireString(part.text, `${param}.text`) };
  if (part.type === "refusal") return { type: "text", text: requireString(part.refusal, `${param}.refusal`) };
  throw badValue(part.type ?? "", ["output_text", "refusal"], `${param}.type`);
}

function readGiven(part: JsonObject, param: string): PromptPart {
  switch (part.type) {
    case "input_text":
      return { type: "text", text: requireString(part.text, `${param}.text`) };
    case "input_image":
      return { type: "media", media: readImage(part, param) };
    case "input_file":
      return { type: "media", media: readFile(part, param) };
    default:
      throw badValue(part.type ?? "", ["input_text", "input_image", "input_file"], `${param}.type`);
  }
}

function readImage(part: JsonObject, param: string): Media {
  if (typeof part.file_id === "string") return remoteMedia(part.file_id, "image/*");
  const url = requireString(part.image_url, `${param}.image_url`);
  if (/^https?:\/\//.test(url)) return remoteMedia(url, "image/*");
  return mediaFromDataUrl(url, `${param}.image_url`, () => badImage(`${param}.image_url`));
}

function readFile(part: JsonObject, param: string): Media {
  const remote = part.file_id ?? part.file_url;
  if (typeof remote === "string") return remoteMedia(remote, "application/octet-stream");
  const data = requireString(part.file_data, `${param}.file_data`);
  return mediaFromDataUrl(data, `${param}.file_data`, () =>
    invalid(`Invalid '${param}.file_data': the file is not what its MIME type says.`, param, "invalid_value"),
  );
}

function readCall(item: JsonObject, param: string, calls: Calls): PromptPart {
  const id = requireString(item.call_id, `${param}.call_id`);
  checkLength(id, `${param}.call_id`);
  const name = requireString(item.name, `${param}.name`);
  calls.begin(id, name, String(item.type));
  if (item.type === "custom_tool_call") {
    return { type: "call", id, name, input: requireString(item.input, `${param}.input`) };
  }
  const text = requireString(item.arguments, `${param}.arguments`);
  try {
    return { type: "call", id, name, input: JSON.parse(text) as Json };
  } catch {
    // The host passes broken arguments on to its model, so they are kept as they are.
    return { type: "call", id, name, input: text };
  }
}

function readOutput(item: JsonObject, param: string, calls: Calls): PromptPart {
  const id = requireString(item.call_id, `${param}.call_id`);
  checkLength(id, `${param}.call_id`);
  const name = calls.answer(id, param);
  const parts = readContent(item.output, `${param}.output`, "user");
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const media = parts.flatMap((part) => (part.type === "media" ? [part.media] : []));
  return { type: "result", id, name, text, media, failed: false };
}

function readReasoning(item: JsonObject, param: string): PromptPart {
  // Clients that keep no ids send the sealed value alone.
  const id = item.id ?? undefined;
  requireArray(item.summary, `${param}.summary`);
  const sealed = item.encrypted_content;
  if (typeof sealed !== "string") throw notPersisted(String(id), param);
  const opened = unseal(SEALED, sealed);
  if (opened === undefined || (id !== undefined && !opened.startsWith(`${String(id)}\n`))) {
    throw invalid(
      `The encrypted content for item ${String(id)} could not be verified. Reason: Encrypted content item_id did not match the target item id.`,
      param,
      "invalid_encrypted_content",
    );
  }
  return { type: "past", text: sealed };
}

const notPersisted = (id: string, param: string): HostError =>
  invalid(
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    param,
    null,
  );

/** Reasoning belongs to the item that it led to. */
function checkFollowing(items: readonly Json[]): void {
  for (const [at, item] of items.entries()) {
    if (!isObject(item) || item.type !== "reasoning") continue;
    const next = items[at + 1];
    const isAnswer =
      isObject(next) &&
      (next.role === "assistant" || (next.role === undefined && !String(next.type).endsWith("_output")));
    if (isAnswer) continue;
    throw invalid(
      `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`,
      "input",
      null,
    );
  }
}

/**
 * Hosts of models that must have their thoughts back refuse a call of this turn without them. The vendor's own knows by a call's
 * id that there were some (`ofKnownCalls`), and takes one without an id as it is: five recordings have such calls and an answer.
 */
export function requireThoughtsBack(value: Json | undefined, { ofKnownCalls }: { ofKnownCalls: boolean }): void {
  const items = Array.isArray(value) ? value : [];
  const lastUser = items.findLastIndex((item) => isObject(item) && item.role === "user");
  let thought = false;
  for (const [at, item] of items.entries()) {
    if (at < lastUser || !isObject(item)) continue;
    if (item.type === "reasoning") thought = true;
    if (item.type === "function_call_output") thought = false;
    const mayLack = ofKnownCalls && item.id === undefined;
    if (item.type === "function_call" && !thought && !mayLack) {
      throw invalid(
        `Item '${String(item.call_id)}' of type 'function_call' was provided without its required 'reasoning' item.`,
        `input[${at}]`,
        null,
      );
    }
  }
}
