import { decodeBase64, type Media } from "../../../inspect-media.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { understand } from "../../../live/understand.ts";
import type { PromptPart } from "../../../text/prompt.ts";
import { countTokens } from "../../../text/tokens.ts";
import { badValue, requireArray, requireObject, requireString } from "../text/check.ts";
import { invalid } from "../text/errors.ts";
import { badImage, mediaFromDataUrl } from "../text/read-messages.ts";
import type { AudioFormat } from "./audio-format.ts";

export type Role = "system" | "user" | "assistant";

/** Sound in an item. */
export interface ItemAudio {
  type: "audio";
  ms: number;
  tokens: number;
  /** What the host understood, or has said. */
  words: string | undefined;
  /** What clients are shown of that. */
  transcript: string | null;
  /** As it was sent, for clients that retrieve the item. */
  bytes: Uint8Array;
}

type ItemPart = { type: "text"; text: string } | ItemAudio | { type: "image"; media: Media };

interface AnyItem {
  id: string;
  status: "completed" | "incomplete" | "in_progress";
}

export type Item = AnyItem &
  (
    | { type: "message"; role: Role; parts: ItemPart[] }
    | { type: "function_call"; name: string; callId: string; arguments: string }
    | { type: "function_call_output"; callId: string; output: string }
  );

/** How long a token of sound is: what a user says counts half of what the model says. */
const USER_MS_PER_TOKEN = 100;
const MODEL_MS_PER_TOKEN = 50;
const MAX_ID_CHARACTERS = 32;

export const audioTokens = (ms: number, role: Role): number =>
  Math.ceil(ms / (role === "assistant" ? MODEL_MS_PER_TOKEN : USER_MS_PER_TOKEN));

/** Sound that a user has said. */
export function userAudio(samples: Int16Array, format: AudioFormat, bytes: Uint8Array): ItemAudio {
  const ms = Math.round((samples.length / format.rate) * 1_000);
  const words = understand(samples, format.rate);
  return { type: "audio", ms, tokens: audioTokens(ms, "user"), words, transcript: null, bytes };
}

/** The bytes of audio in base64, or the host's refusal. */
export function readAudio(value: Json | undefined, format: AudioFormat, param: string): Uint8Array {
  const bytes = decodeBase64(requireString(value, param));
  if (bytes !== undefined && bytes.length % format.bytesPerSample === 0) return bytes;
  const wanted = `${String(format.shown.type)} at ${format.rate / 1_000}kHz`;
  const found = bytes === undefined ? "an invalid value" : `${bytes.length} bytes, which are no whole samples`;
  throw invalid(
    `Invalid '${param}'. Expected base64-encoded audio bytes (mono ${wanted}) but got ${found}.`,
    param,
    "invalid_value",
  );
}

/** An item that a client has written. */
export function readItem(value: Json | undefined, makeId: () => string, format: AudioFormat, param: string): Item {
  const item = requireObject(value, param);
  const id = item.id === undefined || item.id === null ? makeId() : requireString(item.id, `${param}.id`);
  if (id === "" || id.length > MAX_ID_CHARACTERS) {
    throw invalid(
      `Invalid '${param}.id': expected a string of 1 to ${MAX_ID_CHARACTERS} characters, but got one of ${id.length}.`,
      `${param}.id`,
      "string_above_max_length",
    );
  }
  const base = { id, status: "completed" as const };
  switch (item.type) {
    case "message":
      return { ...base, type: "message", ...readMessage(item, format, param) };
    case "function_call": {
      const name = requireString(item.name, `${param}.name`);
      const text = requireString(item.arguments, `${param}.arguments`);
      const callId = item.call_id === undefined ? makeId() : requireString(item.call_id, `${param}.call_id`);
      return { ...base, type: "function_call", name, arguments: text, callId };
    }
    case "function_call_output": {
      const output = requireString(item.output, `${param}.output`);
      return { ...base, type: "function_call_output", callId: requireString(item.call_id, `${param}.call_id`), output };
    }
    default:
      throw badValue(item.type ?? "", ["message", "function_call", "function_call_output"], `${param}.type`);
  }
}

const CONTENT_TYPES: Readonly<Record<Role, readonly string[]>> = {
  system: ["input_text"],
  user: ["input_text", "input_audio", "input_image"],
  assistant: ["output_text"],
};

function readMessage(item: JsonObject, format: AudioFormat, param: string): { role: Role; parts: ItemPart[] } {
  const role = item.role;
  if (role !== "system" && role !== "user" && role !== "assistant")
    throw badValue(role ?? "", Object.keys(CONTENT_TYPES), `${param}.role`);
  const content = requireArray(item.content, `${param}.content`);
  const parts = content.map((one, at) => {
    const at_ = `${param}.content[${at}]`;
    const part = requireObject(one, at_);
    const type = String(part.type ?? "");
    if (!CONTENT_TYPES[role].includes(type)) throw badValue(part.type ?? "", CONTENT_TYPES[role], `${at_}.type`);
    return readPart(part, type, format, at_);
  });
  return { role, parts };
}

function readPart(part: JsonObject, type: string, format: AudioFormat, param: string): ItemPart {
  if (type === "input_audio") {
    const bytes = readAudio(part.audio, format, `${param}.audio`);
    const transcript = typeof part.transcript === "string" ? part.transcript : null;
    return { ...userAudio(format.decode(bytes), format, bytes), transcript };
  }
  if (type === "input_image") {
    const url = requireString(part.image_url, `${param}.image_url`);
    return { type: "image", media: mediaFromDataUrl(url, `${param}.image_url`, () => badImage(param)) };
  }
  return { type: "text", text: requireString(part.text, `${param}.text`) };
}

/** The item as events show it: without its sound, except for who retrieves it. */
export function showItem(item: Item, withAudio = false): JsonObject {
  const base = { id: item.id, object: "realtime.item", type: item.type, status: item.status };
  switch (item.type) {
    case "function_call":
      return { ...base, name: item.name, call_id: item.callId, arguments: item.arguments };
    case "function_call_output":
      return { id: base.id, object: base.object, type: base.type, call_id: item.callId, output: item.output };
    case "message": {
      const prefix = item.role === "assistant" ? "output" : "input";
      const content = item.parts.map((part): JsonObject => {
        if (part.type === "text") return { type: `${prefix}_text`, text: part.text };
        if (part.type === "image") return { type: "input_image" };
        const audio = withAudio ? { audio: Buffer.from(part.bytes).toString("base64") } : {};
        return { type: `${prefix}_audio`, ...audio, transcript: part.transcript };
      });
      return { ...base, role: item.role, content };
    }
  }
}

/** What an item is to the model. */
export function promptParts(item: Item, nameOf: (callId: string) => string): PromptPart[] {
  switch (item.type) {
    case "function_call":
      return [{ type: "call", id: item.callId, name: item.name, input: parsed(item.arguments) }];
    case "function_call_output": {
      const result = { id: item.callId, name: nameOf(item.callId), text: item.output, media: [], failed: false };
      return [{ type: "result", ...result }];
    }
    case "message":
      return item.parts.flatMap((part): PromptPart[] => {
        if (part.type === "text") return [part];
        if (part.type === "image") return [{ type: "media", media: part.media }];
        return part.words === undefined ? [] : [{ type: "text", text: part.words }];
      });
  }
}

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    // The host passes broken arguments on to its model, so they are kept as they are.
    return text;
  }
}

/** Tokens of an item, by what they were made from. */
export interface TokenCounts {
  text: number;
  audio: number;
  image: number;
}

export function tokensOf(item: Item): TokenCounts {
  const counts = { text: 0, audio: 0, image: 0 };
  if (item.type === "function_call") counts.text = countTokens(`${item.name} ${item.arguments}`);
  else if (item.type === "function_call_output") counts.text = countTokens(item.output);
  else {
    for (const part of item.parts) {
      if (part.type === "text") counts.text += countTokens(part.text);
      else if (part.type === "image") counts.image += part.media.tokens;
      else counts.audio += part.tokens;
    }
  }
  return counts;
}
