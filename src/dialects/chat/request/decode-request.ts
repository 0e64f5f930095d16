import { arrayAt, type JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall, Extra, Turn } from "../../../canon/call.ts";
import { distinctCallIds } from "../../../canon/calls/distinct-call-ids.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Part, TextPart, ToolResultPart } from "../../../canon/part.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import { decodeContent } from "../content.ts";
import { olderFunctions } from "../older-functions.ts";
import { takeCache, takeExtras } from "../part-fields.ts";
import { decodeReasoning } from "../reasoning.ts";
import { readFromClient } from "../reasoning-details.ts";
import { decodeToolChoice, decodeTools } from "../tools.ts";
import { decodeMessage } from "./decode-message.ts";
import { FIELD_NAMES } from "./field-names.ts";
import { decodeFormat } from "./response-format.ts";
import { decodeSettings } from "./settings.ts";

/** Fields that the gateway handles itself. */
const HONOURED = ["model", "stream", "stream_options", "usage", ...ROUTING_FIELDS];

/**
 * Decoding and then encoding for a provider of this dialect gives the same request in normal form: leading system and developer messages
 * are one system message, texts of system and tool messages are one string, a single text part is a string, `functions` are tools,
 * `function_call` and the function role are tool calls and results, thinking is in the provider's own fields, and defaults (null,
 * `logprobs: false`, a text format) are left out.
 */
export function decodeRequest(body: JsonObject): CanonCall {
  const fields = new Fields(body);
  fields.skip("messages", ...HONOURED);
  const { system, turns } = decodeMessages(arrayAt(body, "messages"));
  const { settings, paths, extras: settingExtras } = decodeSettings(fields);
  const chosen = decodeToolChoice(fields);
  const chosenBefore = chosen === undefined ? olderFunctions.decodeChoice(fields) : undefined;
  const toolChoice = chosen ?? chosenBefore;
  const { format, extras: formatExtras } = decodeFormat(fields);
  const reasoning = decodeReasoning(body);
  fields.skip(...reasoning.read);
  const newer = decodeTools(fields);
  const functions = olderFunctions.decode(fields);
  const tools = functions.length === 0 ? newer : [...newer, ...functions];
  const extras: Extra[] = [
    ...extrasOf(fields.rest()),
    ...settingExtras,
    ...extrasOf(reasoning.rest, "reasoning"),
    ...formatExtras,
  ];
  return {
    dialect: "chat",
    fieldNames: FIELD_NAMES,
    system,
    turns,
    tools,
    ...(olderFunctions.readBy(body) ? { parallelTools: false } : {}),
    ...settings,
    ...withoutAbsent({ toolChoice, format, reasoning: reasoning.desired }),
    paths: {
      ...(functions.length === 0 ? {} : { parallelTools: "functions" }),
      ...paths,
      ...(toolChoice === undefined ? {} : { toolChoice: chosenBefore === undefined ? "tool_choice" : "function_call" }),
      ...(format === undefined ? {} : { format: "response_format" }),
    },
    extras,
  };
}

function extrasOf(rest: JsonObject | undefined, ...keys: string[]): Extra[] {
  return Object.entries(rest ?? {}).map(([key, value]) => ({ keys: [...keys, key], value }));
}

function decodeMessages(messages: readonly unknown[]): { system: TextPart[]; turns: Turn[] } {
  const system: TextPart[] = [];
  const leading: Turn[] = [];
  const turns: Turn[] = [];
  const legacyCalls = new Map<string, string>();
  for (const [index, raw] of messages.entries()) {
    const path = `messages[${index}]`;
    const fields = new Fields(raw);
    const role = fields.string("role");
    if (role === "assistant") {
      turns.push(decodeAssistant(fields, path, legacyCalls));
    } else if (role === "tool" || role === "function") {
      addResult(turns, decodeResult(fields, path, legacyCalls), path);
    } else if (role === "user") {
      turns.push(decodeTurn("user", fields, path));
    } else if (turns.length > 0) {
      turns.push(decodeTurn("system", fields, path));
    } else {
      const { texts, others } = decodeSystem(fields, path);
      system.push(...texts);
      if (others.length > 0) leading.push({ role: "system", parts: others, path });
    }
  }
  return { system, turns: distinctCallIds([...leading, ...turns]) };
}

/**
 * A message's own fields are stored in an empty text before its others, at the message's path. Parts other than text are not allowed in the
 * canon's system, and become a separate turn.
 */
function decodeSystem(fields: Fields, path: string): { texts: TextPart[]; others: Part[] } {
  const parts = withMark(decodeContent(fields.take("content"), `${path}.content`), fields);
  const own = takeExtras(fields);
  const texts = parts.filter((part) => part.type === "text");
  const others = parts.filter((part) => part.type !== "text");
  return { texts: own.extras === undefined ? texts : [{ type: "text", text: "", path, ...own }, ...texts], others };
}

function decodeTurn(role: Turn["role"], fields: Fields, path: string): Turn {
  const parts = withMark(decodeContent(fields.take("content"), `${path}.content`), fields);
  return { role, parts, ...nameOf(fields), path, ...takeExtras(fields) };
}

function nameOf(fields: Fields): { name?: string } {
  const name = fields.string("name");
  return name === undefined ? {} : { name };
}

function decodeAssistant(fields: Fields, path: string, legacyCalls: Map<string, string>): Turn {
  let made = 0;
  const parts = decodeMessage(fields, {
    path,
    readOrigin: readFromClient,
    makeId: () => `call_${path.replace(/\D/g, "")}_${made++}`,
  });
  for (const part of parts) {
    if (part.type === "tool-call" && part.path?.endsWith("function_call")) legacyCalls.set(part.name, part.id);
  }
  return { role: "assistant", parts: withMark(parts, fields), ...nameOf(fields), path, ...takeExtras(fields) };
}

/** The function role names the function instead of the call, so it answers the last call of that name. */
function decodeResult(fields: Fields, path: string, legacyCalls: ReadonlyMap<string, string>): ToolResultPart {
  const { name } = nameOf(fields);
  const callId = fields.string("tool_call_id") ?? legacyCalls.get(name ?? "") ?? name ?? "";
  const content = decodeContent(fields.take("content"), `${path}.content`).filter(isResultContent);
  const named = name === undefined ? {} : { name };
  return { type: "tool-result", callId, ...named, content, path, ...takeCache(fields), ...takeExtras(fields) };
}

/** Some clients set the mark on a whole message. It moves to the last part, unless that has its own. */
function withMark(parts: Part[], fields: Fields): Part[] {
  const last = parts.findLastIndex(({ type }) => type !== "reasoning" && type !== "native");
  const part = parts[last];
  if (part === undefined) return parts;
  return parts.with(last, {
    ...part,
    ...takeCache(fields),
    ...withoutAbsent({ cache: part.cache }),
  });
}

const isResultContent = (part: Part): part is ToolResultPart["content"][number] =>
  part.type === "text" || part.type === "media" || part.type === "native";

/** Consecutive results form one user turn. */
function addResult(turns: Turn[], result: ToolResultPart, path: string): void {
  const last = turns.at(-1);
  // A user message never contains results, so this turn and its list were created here and can be changed.
  const isResults = last?.role === "user" && last.parts[0]?.type === "tool-result";
  if (isResults) (last.parts as Part[]).push(result);
  else turns.push({ role: "user", parts: [result], path });
}
