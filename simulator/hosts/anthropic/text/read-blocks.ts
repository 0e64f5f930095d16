import type { HostError } from "../../../host-error.ts";
import {
  decodeBase64,
  inspectMedia,
  type Media,
  MediaProblem,
  remoteMedia,
  textMedia,
} from "../../../inspect-media.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { CacheTtl, PromptPart } from "../../../text/prompt.ts";
import { isSealed, isSigned } from "../../../text/signature.ts";
import { requireArray, requireObject, requireOneOf, requireString } from "./check.ts";
import { invalid } from "./errors.ts";

export const THINKING_PURPOSE = "anthropic thinking";
export const REDACTED_PURPOSE = "anthropic redacted thinking";

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
const TOOL_USE_ID = /^[a-zA-Z0-9_-]+$/;
/** Blocks of the host's own tools: they come back unread. */
const SERVER_BLOCK = /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|container_upload|\w+_tool_result)$/;

export function readCache(holder: JsonObject, path: string): { cache?: CacheTtl } {
  const value = holder.cache_control;
  if (value === undefined || value === null) return {};
  const control = requireObject(value, `${path}.cache_control`);
  requireOneOf(control.type, ["ephemeral"], `${path}.cache_control.type`);
  if (control.ttl === undefined || control.ttl === null) return { cache: "5m" };
  return { cache: requireOneOf(control.ttl, ["5m", "1h"], `${path}.cache_control.ephemeral.ttl`) };
}

function inspect(data: string, type: string, path: string, refuse: (problem: MediaProblem) => HostError): Media {
  const bytes = decodeBase64(data);
  if (bytes === undefined) throw invalid(`${path}.data`, "The data is not valid base64");
  try {
    return inspectMedia(bytes, type);
  } catch (problem) {
    if (problem instanceof MediaProblem) throw refuse(problem);
    throw problem;
  }
}

function readImage(block: JsonObject, path: string): Media {
  const source = requireObject(block.source, `${path}.source`);
  const kind = requireOneOf(source.type, ["base64", "url", "file"], `${path}.source.type`);
  if (kind === "url") return remoteMedia(requireString(source.url, `${path}.source.url.url`), "image/*");
  if (kind === "file") return remoteMedia(requireString(source.file_id, `${path}.source.file.file_id`), "image/*");
  const sourcePath = `${path}.source.base64`;
  const type = requireOneOf(source.media_type, IMAGE_TYPES, `${sourcePath}.media_type`);
  return inspect(requireString(source.data, `${sourcePath}.data`), type, sourcePath, (problem) =>
    problem.found === undefined
      ? invalid(sourcePath, "Could not process image")
      : invalid(
          sourcePath,
          `The image was specified using the ${type} media type, but the image appears to be a ${problem.found} image`,
        ),
  );
}

function readDocument(block: JsonObject, path: string): Media {
  const source = requireObject(block.source, `${path}.source`);
  const kind = requireOneOf(source.type, ["base64", "text", "content", "url", "file"], `${path}.source.type`);
  switch (kind) {
    case "url":
      return remoteMedia(requireString(source.url, `${path}.source.url.url`), "application/pdf");
    case "file":
      return remoteMedia(requireString(source.file_id, `${path}.source.file.file_id`), "application/pdf");
    case "text":
      requireOneOf(source.media_type, ["text/plain"], `${path}.source.text.media_type`);
      return textMedia(requireString(source.data, `${path}.source.text.data`), "text/plain");
    case "content":
      return textMedia(readTexts(source.content, `${path}.source.content.content`).text, "text/plain");
    case "base64":
      requireOneOf(source.media_type, ["application/pdf"], `${path}.source.base64.media_type`);
      return inspect(requireString(source.data, `${path}.source.base64.data`), "application/pdf", path, () =>
        invalid(`${path}.source.base64.data`, "The PDF specified was not valid."),
      );
  }
}

/** The content of a tool result or of a document: text, and the media in it. */
function readTexts(content: Json | undefined, path: string): { text: string; media: Media[] } {
  if (content === undefined || content === null) return { text: "", media: [] };
  if (typeof content === "string") return { text: content, media: [] };
  const texts: string[] = [];
  const media: Media[] = [];
  for (const [at, item] of requireArray(content, path).entries()) {
    const block = requireObject(item, `${path}.${at}`);
    const type = requireOneOf(
      block.type,
      ["text", "image", "search_result", "document", "tool_reference"],
      `${path}.${at}.type`,
    );
    if (type === "text") texts.push(requireString(block.text, `${path}.${at}.text.text`));
    else if (type === "image") media.push(readImage(block, `${path}.${at}.image`));
    else if (type === "document") media.push(readDocument(block, `${path}.${at}.document`));
    else if (type === "search_result") texts.push(readTexts(block.content, `${path}.${at}.search_result.content`).text);
  }
  return { text: texts.join("\n"), media };
}

function readThinking(block: JsonObject, path: string): PromptPart {
  const text = requireString(block.thinking, `${path}.thinking.thinking`);
  const signature = requireString(block.signature, `${path}.thinking.signature`);
  if (!isSigned(THINKING_PURPOSE, text, signature)) throw invalid(path, "Invalid `signature` in `thinking` block");
  return { type: "past", text };
}

function readToolUse(block: JsonObject, path: string): PromptPart {
  const id = requireString(block.id, `${path}.tool_use.id`);
  if (!TOOL_USE_ID.test(id)) throw invalid(`${path}.tool_use.id`, "String should match pattern '^[a-zA-Z0-9_-]+$'");
  const name = requireString(block.name, `${path}.tool_use.name`);
  const input = requireObject(block.input, `${path}.tool_use.input`);
  return { type: "call", id, name, input, ...readCache(block, path) };
}

function readToolResult(block: JsonObject, path: string): PromptPart {
  const id = requireString(block.tool_use_id, `${path}.tool_result.tool_use_id`);
  const content = readTexts(block.content, `${path}.tool_result.content`);
  const failed = block.is_error === true;
  return { type: "result", id, name: "", text: content.text, media: content.media, failed, ...readCache(block, path) };
}

/** One content block of a message. */
export function readBlock(item: Json, path: string): PromptPart {
  const block = requireObject(item, path);
  const type = requireString(block.type, `${path}.type`);
  switch (type) {
    case "text": {
      const text = requireString(block.text, `${path}.text.text`);
      if (text === "") throw invalid("messages", "text content blocks must be non-empty");
      return { type: "text", text, ...readCache(block, path) };
    }
    case "image":
      return { type: "media", media: readImage(block, `${path}.image`), ...readCache(block, path) };
    case "document":
      return { type: "media", media: readDocument(block, `${path}.document`), ...readCache(block, path) };
    case "search_result":
      return {
        type: "text",
        text: readTexts(block.content, `${path}.search_result.content`).text,
        ...readCache(block, path),
      };
    case "thinking":
      return readThinking(block, path);
    case "redacted_thinking":
      if (!isSealed(REDACTED_PURPOSE, requireString(block.data, `${path}.redacted_thinking.data`))) {
        throw invalid(path, "Invalid `data` in `redacted_thinking` block");
      }
      return { type: "past", text: "redacted" };
    case "tool_use":
      return readToolUse(block, path);
    case "tool_result":
      return readToolResult(block, path);
    default:
      if (SERVER_BLOCK.test(type) && isObject(block)) return { type: "past", text: JSON.stringify(block) };
      throw invalid(path, `Input tag '${type}' found using 'type' does not match any of the expected tags`);
  }
}
