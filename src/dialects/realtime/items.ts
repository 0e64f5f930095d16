import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { LiveAudioFormat, LiveItem } from "../../canon/live.ts";
import type { Notes } from "../../canon/notes.ts";
import type { MediaPart, Part, TextPart, ToolResultPart } from "../../canon/part.ts";
import { sourceOfUrl } from "../request/media-source.ts";
import { refuse } from "../session/refuse.ts";

const DIALECT = "realtime";
const DETAILS = ["low", "high", "auto"] as const;
const ROLES = ["user", "assistant", "system"] as const;
/** Both versions of the protocol. */
const TEXT_TYPES: ReadonlySet<string> = new Set(["input_text", "output_text", "text"]);
const AUDIO_TYPES: ReadonlySet<string> = new Set(["input_audio", "output_audio", "audio"]);

/** The type under which a part has audio of a session's format. */
const AUDIO_MIME = { pcm: "audio/pcm", pcmu: "audio/pcmu", pcma: "audio/pcma" } as const;

export const mimeTypeOf = (format: LiveAudioFormat): string =>
  format.type === "pcm" ? `audio/pcm;rate=${format.rate}` : AUDIO_MIME[format.type];

/** An item of a client or a host. Audio in it has the format of the session's input. */
export function decodeItem(raw: unknown, path: string, id: string, format: LiveAudioFormat): LiveItem {
  if (!isObject(raw)) return refuse(path, "must be an object.");
  const fields = new Fields(raw);
  const type = fields.string("type") ?? (raw["role"] === undefined ? "" : "message");
  fields.skip("id", "object", "status");
  switch (type) {
    case "message": {
      const role = ROLES.find((one) => one === fields.string("role"));
      if (role === undefined) return refuse(`${path}.role`, "must be user, assistant or system.");
      const parts = (fields.array("content") ?? []).map((part, index) =>
        decodePart(part, `${path}.content[${index}]`, format),
      );
      return { id, turn: withoutAbsent({ role, parts, path, extras: fields.rest() }) };
    }
    case "function_call": {
      const name = fields.string("name") ?? refuse(`${path}.name`, "must be the name of the function.");
      const callId = fields.string("call_id") ?? id;
      const input = fields.string("arguments") ?? "";
      const part: Part = withoutAbsent({
        type: "tool-call" as const,
        id: callId,
        name,
        input,
        path,
        extras: fields.rest(),
      });
      return { id, turn: { role: "assistant", parts: [part], path } };
    }
    case "function_call_output": {
      const callId = fields.string("call_id") ?? refuse(`${path}.call_id`, "must be the id of the call.");
      const output = fields.string("output") ?? refuse(`${path}.output`, "must be text.");
      const content: TextPart[] = [{ type: "text", text: output, path: `${path}.output` }];
      const part = withoutAbsent({ type: "tool-result" as const, callId, content, path, extras: fields.rest() });
      return { id, turn: { role: "user", parts: [part], path } };
    }
    default: {
      if (type === "") return refuse(`${path}.type`, "must be message, function_call or function_call_output.");
      return { id, turn: { role: "user", parts: [{ type: "native", dialect: DIALECT, name: type, raw, path }], path } };
    }
  }
}

function decodePart(raw: unknown, path: string, format: LiveAudioFormat): Part {
  const fields = new Fields(raw);
  const type = fields.string("type") ?? "";
  const transcript = fields.string("transcript");
  if (TEXT_TYPES.has(type)) {
    const text = fields.string("text") ?? refuse(`${path}.text`, "must be text.");
    return withoutAbsent({ type: "text" as const, text, path, extras: fields.rest() });
  }
  if (AUDIO_TYPES.has(type)) {
    const data = fields.string("audio");
    // What the assistant said is in the history as text: no host accepts its audio back.
    if (data === undefined || type !== "input_audio") return { type: "text", text: transcript ?? "", path };
    const source = { type: "data" as const, mimeType: mimeTypeOf(format), data };
    const context = transcript;
    return withoutAbsent({ type: "media" as const, kind: "audio" as const, source, context, path });
  }
  if (type === "input_image") {
    const url = fields.string("image_url") ?? refuse(`${path}.image_url`, "must be a data URL.");
    const known = DETAILS.find((one) => one === fields.string("detail"));
    return withoutAbsent({
      type: "media" as const,
      kind: "image" as const,
      source: sourceOfUrl(url),
      detail: known,
      path,
    });
  }
  return { type: "native", dialect: DIALECT, name: type, raw: isObject(raw) ? raw : {}, path };
}

/** How an item is written for one of the two versions of the protocol. */
export interface ItemForm {
  beta: boolean;
  /** Whether the client wrote the item in this protocol. */
  own: boolean;
}

/** One item for each message, call and result of a turn. */
export function encodeItem({ id, turn }: LiveItem, form: ItemForm, notes: Notes): JsonObject[] {
  const items: JsonObject[] = [];
  const content: JsonObject[] = [];
  const status = "completed";
  for (const part of turn.parts) {
    if (part.type === "tool-call")
      items.push({ type: "function_call", status, call_id: part.id, name: part.name, arguments: part.input });
    else if (part.type === "tool-result")
      items.push({ type: "function_call_output", call_id: part.callId, output: textOfResult(part, notes) });
    else if (part.type === "native" && part.dialect === DIALECT && isItem(part.raw)) items.push(part.raw);
    else content.push(...encodePart(part, turn.role, form, notes));
  }
  if (content.length > 0) items.unshift({ type: "message", status, role: turn.role, content });
  return items.map((item, index) => ({ ...item, ...(index === 0 ? { id } : {}), object: "realtime.item" }));
}

/** Native items have no role or content of a message. */
const isItem = (raw: JsonObject): boolean => stringAt(raw, "type")?.startsWith("mcp_") ?? false;

function encodePart(part: Part, role: "user" | "assistant" | "system", form: ItemForm, notes: Notes): JsonObject[] {
  switch (part.type) {
    case "text":
      return [{ type: role === "assistant" ? (form.beta ? "text" : "output_text") : "input_text", text: part.text }];
    case "media":
      return encodeMedia(part, role, notes);
    case "native":
      if (part.dialect === DIALECT) return [part.raw];
      break;
    default:
      break;
  }
  notes.dropped(part.path ?? part.type, `this protocol has no ${part.type} in its messages`);
  return [];
}

function encodeMedia(part: MediaPart, role: string, notes: Notes): JsonObject[] {
  const { source, kind, path = kind } = part;
  if (role === "user" && kind === "image" && source.type === "data") {
    const { detail } = part;
    const image = { type: "input_image", image_url: `data:${source.mimeType};base64,${source.data}` };
    return [{ ...image, ...(detail === "low" || detail === "high" || detail === "auto" ? { detail } : {}) }];
  }
  if (role === "user" && kind === "audio" && source.type === "data" && source.mimeType.startsWith("audio/pcm"))
    return [withoutAbsent({ type: "input_audio", audio: source.data, transcript: part.context })];
  if (source.type === "text") return [{ type: "input_text", text: source.text }];
  notes.dropped(path, `this protocol does not accept such ${kind} content in its messages`);
  return [];
}

/** Results are text here. */
function textOfResult(part: ToolResultPart, notes: Notes): string {
  const texts: string[] = [];
  for (const inner of part.content) {
    if (inner.type === "text") texts.push(inner.text);
    else notes.dropped(inner.path ?? part.path ?? inner.type, "this protocol accepts only text in tool results");
  }
  return texts.join("\n");
}
