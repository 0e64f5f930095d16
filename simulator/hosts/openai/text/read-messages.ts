import type { HostError } from "../../../host-error.ts";
import { decodeBase64, inspectMedia, type Media, MediaProblem, remoteMedia } from "../../../inspect-media.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { Prompt, PromptPart, Turn } from "../../../text/prompt.ts";
import { badValue, missing, requireArray, requireObject, requireString, wrongType } from "./check.ts";
import { invalid } from "./errors.ts";

const ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

type Role = (typeof ROLES)[number];

function isRole(value: Json | undefined): value is Role {
  return ROLES.some((role) => role === value);
}

export function badImage(param: string): HostError {
  return invalid(
    "You uploaded an unsupported image. Please make sure your image is valid and has one of these formats: png, jpeg, gif, webp.",
    param,
    "invalid_image_format",
  );
}

export function mediaFromDataUrl(url: string, param: string, refuse: () => HostError): Media {
  const match = /^data:([^;,]+)(?:;[^;,]+)*;base64,(.*)$/s.exec(url);
  const bytes = decodeBase64(match?.[2] ?? "!");
  if (bytes === undefined) {
    throw invalid(`Invalid '${param}': expected a base64-encoded data URL with a MIME type.`, param, "invalid_value");
  }
  try {
    return inspectMedia(bytes, match?.[1] ?? "");
  } catch (problem) {
    if (problem instanceof MediaProblem) throw refuse();
    throw problem;
  }
}

function readImage(part: JsonObject, param: string): Media {
  const image = requireObject(part.image_url, `${param}.image_url`);
  const url = requireString(image.url, `${param}.image_url.url`);
  if (/^https?:\/\//.test(url)) return remoteMedia(url, "image/*");
  return mediaFromDataUrl(url, `${param}.image_url.url`, () => badImage(`${param}.image_url`));
}

function readAudio(part: JsonObject, param: string): Media {
  const audio = requireObject(part.input_audio, `${param}.input_audio`);
  const data = requireString(audio.data, `${param}.input_audio.data`);
  const format = requireString(audio.format, `${param}.input_audio.format`);
  if (format !== "wav" && format !== "mp3") throw badValue(format, ["wav", "mp3"], `${param}.input_audio.format`);
  return mediaFromDataUrl(`data:audio/${format};base64,${data}`, `${param}.input_audio.data`, () =>
    invalid(
      `The data provided for 'input_audio' is not of valid ${format} format.`,
      `${param}.input_audio`,
      "invalid_value",
    ),
  );
}

function readFile(part: JsonObject, param: string): Media {
  const file = requireObject(part.file, `${param}.file`);
  if (typeof file.file_id === "string") return remoteMedia(file.file_id, "application/octet-stream");
  const data = requireString(file.file_data, `${param}.file.file_data`);
  return mediaFromDataUrl(data, `${param}.file.file_data`, () =>
    invalid(`Invalid '${param}.file.file_data': the file is not what its MIME type says.`, param, "invalid_value"),
  );
}

function readUserPart(part: Json, param: string): PromptPart {
  const object = requireObject(part, param);
  switch (object.type) {
    case "text":
      return { type: "text", text: requireString(object.text, `${param}.text`) };
    case "image_url":
      return { type: "media", media: readImage(object, param) };
    case "input_audio":
      return { type: "media", media: readAudio(object, param) };
    case "file":
      return { type: "media", media: readFile(object, param) };
    default:
      throw badValue(object.type ?? "", ["text", "image_url", "input_audio", "file"], `${param}.type`);
  }
}

/** A string, or parts that hold only text. */
function readText(content: Json | undefined, param: string): string {
  if (typeof content === "string") return content;
  if (content === undefined) throw missing(param);
  if (!Array.isArray(content)) throw wrongType(content, "one of a string or array of objects", param);
  return content
    .map((part, at) => {
      const object = requireObject(part, `${param}[${at}]`);
      if (object.type === "refusal") return requireString(object.refusal, `${param}[${at}].refusal`);
      if (object.type !== "text") throw badValue(object.type ?? "", ["text"], `${param}[${at}].type`);
      return requireString(object.text, `${param}[${at}].text`);
    })
    .join("\n");
}

function readUser(message: JsonObject, param: string): PromptPart[] {
  const { content } = message;
  if (typeof content === "string") return [{ type: "text", text: content }];
  const parts = requireArray(content, `${param}.content`);
  if (parts.length === 0) {
    throw invalid(
      `Invalid '${param}.content': empty array. Expected an array with minimum length 1.`,
      param,
      "empty_array",
    );
  }
  return parts.map((part, at) => readUserPart(part, `${param}.content[${at}]`));
}

function readToolCall(call: Json, param: string): PromptPart {
  const object = requireObject(call, param);
  const id = requireString(object.id, `${param}.id`);
  if (object.type === "custom") {
    const custom = requireObject(object.custom, `${param}.custom`);
    const name = requireString(custom.name, `${param}.custom.name`);
    return { type: "call", id, name, input: requireString(custom.input, `${param}.custom.input`) };
  }
  if (object.type !== "function") throw badValue(object.type ?? "", ["function", "custom"], `${param}.type`);
  const called = requireObject(object.function, `${param}.function`);
  const name = requireString(called.name, `${param}.function.name`);
  const text = requireString(called.arguments, `${param}.function.arguments`);
  try {
    return { type: "call", id, name, input: JSON.parse(text) as Json };
  } catch {
    // The host passes broken arguments on to its model, so they are kept as they are.
    return { type: "call", id, name, input: text };
  }
}

function readAssistant(message: JsonObject, param: string): PromptPart[] {
  const parts: PromptPart[] = [];
  if (typeof message.reasoning_content === "string") parts.push({ type: "past", text: message.reasoning_content });
  const hasCalls = message.tool_calls !== undefined && message.tool_calls !== null;
  const { content } = message;
  if (content !== undefined && content !== null) {
    const text = readText(content, `${param}.content`);
    if (text !== "") parts.push({ type: "text", text });
  } else if (typeof message.refusal === "string") {
    parts.push({ type: "text", text: message.refusal });
  } else if (!hasCalls && message.function_call === undefined) {
    throw invalid(`Invalid value for 'content': expected a string, got null.`, `${param}.content`, null);
  }
  if (hasCalls) {
    const calls = requireArray(message.tool_calls, `${param}.tool_calls`);
    if (calls.length === 0) {
      throw invalid(
        `Invalid '${param}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
        `${param}.tool_calls`,
        "empty_array",
      );
    }
    parts.push(...calls.map((call, at) => readToolCall(call, `${param}.tool_calls[${at}]`)));
  }
  return parts;
}

/** Follows calls and their results through the conversation: every call is answered in the next messages, every answer has a call. */
class OpenCalls {
  #nameById = new Map<string, string>();

  begin(parts: readonly PromptPart[]): void {
    for (const part of parts) if (part.type === "call") this.#nameById.set(part.id, part.name);
  }

  answer(message: JsonObject, param: string): PromptPart {
    const id = requireString(message.tool_call_id, `${param}.tool_call_id`);
    const name = this.#nameById.get(id);
    if (name === undefined) {
      throw invalid(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        `${param.replace("messages[", "messages.[")}.role`,
        null,
      );
    }
    this.#nameById.delete(id);
    return { type: "result", id, name, text: readText(message.content, `${param}.content`), media: [], failed: false };
  }

  mustBeClosed(param: string): void {
    if (this.#nameById.size === 0) return;
    const ids = [...this.#nameById.keys()].join(", ");
    throw invalid(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids}`,
      param,
      null,
    );
  }
}

function readMessage(message: JsonObject, role: Role, param: string, open: OpenCalls): Turn | string {
  switch (role) {
    case "system":
    case "developer":
      return readText(message.content, `${param}.content`);
    case "user":
      return { role: "user", parts: readUser(message, param) };
    case "assistant": {
      const parts = readAssistant(message, param);
      open.begin(parts);
      return { role: "assistant", parts };
    }
    case "tool":
      return { role: "user", parts: [open.answer(message, param)] };
    case "function": {
      const name = requireString(message.name, `${param}.name`);
      const text = readText(message.content, `${param}.content`);
      return { role: "user", parts: [{ type: "result", id: "", name, text, media: [], failed: false }] };
    }
  }
}

/** The conversation in the simulator's words. */
export function readMessages(value: Json | undefined): Pick<Prompt, "system" | "turns"> {
  const messages = requireArray(value, "messages");
  if (messages.length === 0) {
    throw invalid(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "messages",
      "empty_array",
    );
  }
  const system: Prompt["system"] = [];
  const turns: Turn[] = [];
  const open = new OpenCalls();
  for (const [at, message] of messages.entries()) {
    const param = `messages[${at}]`;
    if (!isObject(message)) throw wrongType(message, "object", param);
    const { role } = message;
    if (role === undefined) throw missing(`${param}.role`);
    if (!isRole(role)) throw badValue(role, ROLES, `${param}.role`);
    if (role !== "tool") open.mustBeClosed(`${param}.role`);
    const read = readMessage(message, role, param, open);
    if (typeof read === "string") system.push({ text: read });
    else turns.push(read);
  }
  open.mustBeClosed("messages");
  return { system, turns };
}

const MAX_ID_CHARACTERS = 40;

/** Compatible hosts take longer ids; this one does not. */
export function checkCallIds(value: Json | undefined): void {
  for (const [at, message] of (Array.isArray(value) ? value : []).entries()) {
    const calls = isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : [];
    for (const [index, call] of calls.entries()) {
      if (!isObject(call) || typeof call.id !== "string" || call.id.length <= MAX_ID_CHARACTERS) continue;
      const param = `messages[${at}].tool_calls[${index}].id`;
      throw invalid(
        `Invalid '${param}': string too long. Expected a string with maximum length ${MAX_ID_CHARACTERS}, but got a string with length ${call.id.length} instead.`,
        param,
        "string_above_max_length",
      );
    }
  }
}
