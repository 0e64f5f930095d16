import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { CacheTtl, PromptPart, Turn } from "../../../text/prompt.ts";
import { isSealed, isSigned } from "../../../text/signature.ts";
import { REDACTED_PURPOSE, THINKING_PURPOSE } from "../../anthropic/text/read-blocks.ts";
import { memberOf, requireArray, requireBase64, requireObject, requireOneOf, requireString } from "./check.ts";
import { invalid } from "./errors.ts";
import { readDocument, readImage, readVideo } from "./read-media.ts";

const TOOL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function readCachePoint(value: Json, path: string, isClaude: boolean): CacheTtl {
  if (!isClaude) throw invalid("You invoked an unsupported model or your request did not allow prompt caching.");
  const point = requireObject(value, path);
  requireOneOf(point.type, ["default"], `${path}.type`);
  return point.ttl === undefined ? "5m" : requireOneOf(point.ttl, ["5m", "1h"], `${path}.ttl`);
}

export function readText(value: Json | undefined, path: string): string {
  const text = requireString(value, path);
  if (text.trim() === "") {
    throw invalid(
      `The text field in the ContentBlock object at ${path} is blank. Add text to the text field, and try again.`,
    );
  }
  return text;
}

/** Reads a conversation as the host does, and remembers what it needs across messages. */
export class MessageReader {
  readonly #isClaude: boolean;
  readonly #documentNames = new Set<string>();
  /** There are calls or results among the messages. */
  usesTools = false;

  constructor(isClaude: boolean) {
    this.#isClaude = isClaude;
  }

  read(value: Json | undefined): Turn[] {
    const messages = requireArray(value, "messages");
    const turns = messages.map((item, at): Turn => {
      const message = requireObject(item, `messages.${at}`);
      const role = requireOneOf(message.role, ["user", "assistant"], `messages.${at}.role`);
      const content = requireArray(message.content, `messages.${at}.content`);
      if (content.length === 0) {
        throw invalid(
          `The content field in the Message object at messages.${at} is empty. Add a ContentBlock object to the content field and try again.`,
        );
      }
      const parts: PromptPart[] = [];
      for (const [index, block] of content.entries())
        this.#readBlock(block, role, `messages.${at}.content.${index}`, parts);
      this.#checkDocuments(content);
      return { role, parts };
    });
    checkRoles(turns);
    pairTools(turns);
    return turns;
  }

  #readBlock(block: Json, role: Turn["role"], path: string, parts: PromptPart[]): void {
    const { kind, member } = memberOf(block, path);
    if (kind === "cachePoint") {
      const last = parts.at(-1);
      if (last === undefined) throw invalid(`A cachePoint at ${path} has nothing before it.`);
      last.cache = readCachePoint(member, path, this.#isClaude);
      return;
    }
    parts.push(
      role === "user" ? this.#readUserBlock(kind, member, path) : this.#readAssistantBlock(kind, member, path),
    );
  }

  #readUserBlock(kind: string, member: Json, path: string): PromptPart {
    switch (kind) {
      case "text":
        return { type: "text", text: readText(member, path) };
      case "image":
        return { type: "media", media: readImage(member, `${path}.image`) };
      case "video":
        return { type: "media", media: readVideo(member, `${path}.video`) };
      case "document":
        return { type: "media", media: readDocument(member, `${path}.document`, this.#documentNames) };
      case "searchResult":
        return { type: "text", text: this.#readSearchResult(member, path) };
      case "toolResult":
        return this.#readResult(requireObject(member, path), `${path}.toolResult`);
      default:
        throw invalid(`The ${kind} field at ${path} is not allowed in a message of the user.`);
    }
  }

  #readAssistantBlock(kind: string, member: Json, path: string): PromptPart {
    switch (kind) {
      case "text":
        return { type: "text", text: readText(member, path) };
      case "citationsContent": {
        const content = requireArray(requireObject(member, path).content, `${path}.content`);
        return {
          type: "text",
          text: content.map((block, at) => readText(requireObject(block, path).text, `${path}.content.${at}`)).join(""),
        };
      }
      case "toolUse": {
        this.usesTools = true;
        const call = requireObject(member, path);
        const id = requireString(call.toolUseId, `${path}.toolUse.toolUseId`, TOOL_ID);
        const name = requireString(call.name, `${path}.toolUse.name`, TOOL_NAME);
        return { type: "call", id, name, input: requireObject(call.input, `${path}.toolUse.input`) };
      }
      case "reasoningContent":
        return this.#readReasoning(member, `${path}.reasoningContent`);
      default:
        throw invalid(`The ${kind} field at ${path} is not allowed in a message of the assistant.`);
    }
  }

  #readReasoning(member: Json, path: string): PromptPart {
    if (!this.#isClaude) throw invalid("This model doesn't support the reasoningContent field in messages.");
    const union = memberOf(member, path);
    if (union.kind === "redactedContent") {
      const sealed = requireBase64(union.member, `${path}.redactedContent`).toString();
      if (!isSealed(REDACTED_PURPOSE, sealed))
        throw invalid(`${path}: Invalid \`data\` in \`redacted_thinking\` block`);
      return { type: "past", text: "redacted" };
    }
    const shown = requireObject(union.member, `${path}.reasoningText`);
    const text = requireString(shown.text, `${path}.reasoningText.text`, /^[\s\S]*$/);
    const signature = requireString(shown.signature, `${path}.reasoningText.signature`);
    if (!isSigned(THINKING_PURPOSE, text, signature))
      throw invalid(`${path}: Invalid \`signature\` in \`thinking\` block`);
    return { type: "past", text };
  }

  #readResult(result: JsonObject, path: string): PromptPart {
    this.usesTools = true;
    const id = requireString(result.toolUseId, `${path}.toolUseId`, TOOL_ID);
    if (result.status !== undefined) requireOneOf(result.status, ["success", "error"], `${path}.status`);
    const part: PromptPart = { type: "result", id, name: "", text: "", media: [], failed: result.status === "error" };
    const texts: string[] = [];
    for (const [at, block] of requireArray(result.content, `${path}.content`).entries()) {
      const itemPath = `${path}.content.${at}`;
      const { kind, member } = memberOf(block, itemPath);
      if (kind === "text") texts.push(readText(member, itemPath));
      else if (kind === "json") texts.push(JSON.stringify(requireObject(member, `${itemPath}.json`)));
      else if (kind === "image") part.media.push(readImage(member, `${itemPath}.image`));
      else if (kind === "video") part.media.push(readVideo(member, `${itemPath}.video`));
      else if (kind === "document") part.media.push(readDocument(member, `${itemPath}.document`, this.#documentNames));
      else if (kind === "searchResult") texts.push(this.#readSearchResult(member, itemPath));
      else throw invalid(`The ${kind} field at ${itemPath} is not allowed in the result of a tool.`);
    }
    return { ...part, text: texts.join("\n") };
  }

  #readSearchResult(member: Json, path: string): string {
    if (!this.#isClaude) throw invalid("This model doesn't support the searchResult field.");
    const result = requireObject(member, path);
    requireString(result.source, `${path}.source`);
    requireString(result.title, `${path}.title`);
    return requireArray(result.content, `${path}.content`)
      .map((block, at) => readText(requireObject(block, path).text, `${path}.content.${at}`))
      .join("\n");
  }

  #checkDocuments(content: readonly Json[]): void {
    const has = (kind: string) => content.some((block) => isObject(block) && kind in block);
    if (has("document") && !has("text")) {
      throw invalid("A text field is required when a message has a document. Add a text field and try again.");
    }
  }
}

function checkRoles(turns: readonly Turn[]): void {
  if (turns[0]?.role !== "user") {
    throw invalid(
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  }
  if (turns.some((turn, at) => turn.role === turns[at - 1]?.role)) {
    throw invalid(
      "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    );
  }
}

function pairTools(turns: readonly Turn[]): void {
  for (const [at, turn] of [...turns, undefined].entries()) {
    const names = new Map<string, string>();
    for (const part of turns[at - 1]?.parts ?? []) if (part.type === "call") names.set(part.id, part.name);
    for (const part of turn?.parts ?? []) {
      if (part.type !== "result") continue;
      const name = names.get(part.id);
      if (name === undefined) {
        throw invalid(
          `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`,
        );
      }
      part.name = name;
      names.delete(part.id);
    }
    if (names.size > 0) {
      throw invalid(
        `Expected toolResult blocks at messages.${at}.content for the following Ids: ${[...names.keys()].join(", ")}`,
      );
    }
  }
}
