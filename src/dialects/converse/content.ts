import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { CanonCall } from "../../canon/call.ts";
import { fieldPath } from "../../canon/field-names.ts";
import type { Notes } from "../../canon/notes.ts";
import type {
  CacheMark,
  MediaPart,
  Part,
  SearchResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../canon/part.ts";
import type { ReplyPart } from "../../canon/reply.ts";
import { fitToolId } from "../../canon/tool-id.ts";
import { parseInOrder } from "../../wire/ordered-json.ts";
import { decodeArguments } from "../answer/decode-arguments.ts";
import type { DecodeAnswerContext, EncodeRequestContext } from "../codec.ts";
import { decodeCitation, encodeCitation } from "./citations.ts";
import { MediaEncoder } from "./media.ts";
import { decodeReasoning, encodeReasoning } from "./reasoning.ts";
import { cachePoint, TOOL_ID, takesCachePoints } from "./tools.ts";

/** One block of a response. Blocks that exist only in this protocol stay as they are. */
export function decodeBlock(block: unknown, { origin, note }: Pick<DecodeAnswerContext, "origin" | "note">): ReplyPart {
  const text = stringAt(block, "text");
  if (text !== undefined) return { type: "text", text };
  const call = objectAt(block, "toolUse");
  if (call !== undefined) {
    const id = stringAt(call, "toolUseId") ?? "";
    const name = stringAt(call, "name") ?? "";
    return { type: "tool-call", id, name, input: decodeArguments(call["input"], name, note) };
  }
  const reasoning = objectAt(block, "reasoningContent");
  if (reasoning !== undefined) return decodeReasoning(reasoning, origin);
  const cited = objectAt(block, "citationsContent");
  if (cited !== undefined) return decodeCitedText(cited);
  const image = objectAt(block, "image");
  const bytes = stringAt(objectAt(image, "source"), "bytes");
  if (bytes !== undefined) {
    const mimeType = `image/${stringAt(image, "format") ?? "png"}`;
    return { type: "media", kind: "image", source: { type: "data", mimeType, data: bytes } };
  }
  const raw = isObject(block) ? block : {};
  return { type: "native", dialect: "converse", name: Object.keys(raw)[0] ?? "unknown", raw };
}

function decodeCitedText(raw: JsonObject): TextPart {
  const text = arrayAt(raw, "content")
    .map((chunk) => stringAt(chunk, "text") ?? "")
    .join("");
  const citations = arrayAt(raw, "citations").flatMap((citation) => decodeCitation(citation) ?? []);
  return { type: "text", text, ...(citations.length === 0 ? {} : { citations }) };
}

/** The blocks of one turn. Tool results are separate, because they must come first in their message. */
export interface EncodedParts {
  results: JsonObject[];
  others: JsonObject[];
}

/** Encodes the parts of a history as blocks. Parts without a block are left out and noted. */
export class ContentEncoder {
  readonly #call: CanonCall;
  readonly #context: EncodeRequestContext;
  readonly #notes: Notes;
  readonly #media: MediaEncoder;

  constructor(call: CanonCall, context: EncodeRequestContext, notes: Notes) {
    this.#call = call;
    this.#context = context;
    this.#notes = notes;
    this.#media = new MediaEncoder(call, context, notes);
  }

  encode(parts: readonly Part[], role: "user" | "assistant"): EncodedParts {
    const encoded: EncodedParts = { results: [], others: [] };
    for (const part of parts) {
      if (part.type === "tool-result") {
        const { block, beside } = this.#encodeResult(part);
        encoded.results.push(
          block,
          ...this.#mark(part.cache ?? part.content.findLast(({ cache }) => cache)?.cache, part),
        );
        encoded.others.push(...beside);
        continue;
      }
      if (part.type !== "reasoning" && part.signature !== undefined) this.#dropSignature(part);
      const blocks = this.#encodePart(part, role);
      // A mark on a part that was left out moves to the preceding block.
      this.#add(encoded.others, blocks, part);
    }
    return encoded;
  }

  encodeSystem(parts: readonly TextPart[]): JsonObject[] {
    const blocks: JsonObject[] = [];
    for (const part of parts) this.#add(blocks, this.#encodeText(part.text, part.path), part);
    return blocks;
  }

  #add(written: JsonObject[], blocks: readonly JsonObject[], part: Part): void {
    written.push(...blocks);
    const last = written.at(-1);
    if (last !== undefined && !("cachePoint" in last)) written.push(...this.#mark(part.cache, part));
  }

  #encodePart(part: Exclude<Part, ToolResultPart>, role: "user" | "assistant"): JsonObject[] {
    switch (part.type) {
      case "text":
        return this.#encodeCited(part, role);
      case "refusal":
        return this.#encodeText(part.text, part.path);
      case "reasoning": {
        const block = encodeReasoning(part, this.#context.origin);
        if (block !== undefined) return [block];
        this.#notes.dropped(part.path ?? "reasoning", "this model accepts only reasoning that it signed itself");
        return [];
      }
      case "media": {
        if (role === "assistant") {
          this.#notes.dropped(part.path ?? part.kind, "this protocol does not allow media in assistant messages");
          return [];
        }
        const block = this.#media.encode(part);
        return block === undefined ? [] : [block];
      }
      case "tool-call":
        return [this.#encodeCall(part)];
      case "search-result":
        return [this.#encodeSearchResult(part)];
      case "server-tool-call":
      case "server-tool-result":
      case "native":
        this.#notes.dropped(part.path ?? part.name, "only its own protocol has this block");
        return [];
    }
  }

  /** The provider rejects text blocks that are empty or only whitespace. */
  #encodeText(text: string, path: string | undefined): JsonObject[] {
    if (text.trim() !== "") return [{ text }];
    if (text !== "") this.#notes.dropped(path ?? "text", "this provider rejects text that is only whitespace");
    return [];
  }

  #encodeCited(part: TextPart, role: "user" | "assistant"): JsonObject[] {
    const { text, citations = [] } = part;
    if (citations.length === 0) return this.#encodeText(text, part.path);
    const encoded = citations.flatMap((citation) => encodeCitation(citation) ?? []);
    const known = role === "assistant" && this.#context.origin === "messages" && text.trim() !== "";
    if (known && encoded.length === citations.length) {
      return [{ citationsContent: { content: [{ text }], citations: encoded } }];
    }
    this.#notes.dropped(
      fieldPath(this.#call.fieldNames, part.path, "citations"),
      "this provider does not accept citations of this kind",
    );
    return this.#encodeText(text, part.path);
  }

  #encodeCall(part: ToolCallPart): JsonObject {
    return {
      toolUse: { toolUseId: fitToolId(part.id, TOOL_ID), name: part.name, input: this.#inputOf(part) },
    };
  }

  #inputOf(part: ToolCallPart): unknown {
    if (part.custom) {
      this.#notes.approximated(
        part.path ?? part.name,
        "this provider accepts only objects; the text was sent as a field of one",
      );
      return { input: part.input };
    }
    if (part.input.trim() === "") return {};
    const input = objectIn(part.input);
    if (input !== undefined) return input;
    this.#notes.approximated(part.path ?? part.name, "the arguments are not a JSON object; an empty object was sent");
    return {};
  }

  #encodeResult(part: ToolResultPart): { block: JsonObject; beside: JsonObject[] } {
    const content: JsonObject[] = [];
    const beside: JsonObject[] = [];
    const { response: object } = part;
    if (object !== undefined) content.push({ json: object });
    for (const inner of part.content) {
      if (inner.type === "text") {
        if (object === undefined) content.push(...this.#encodeText(inner.text, inner.path));
      } else if (inner.type === "media") {
        const block = this.#media.encode(inner);
        if (block !== undefined) this.#placeMedia(block, inner, content, beside);
      } else if (inner.type === "search-result") content.push(this.#encodeSearchResult(inner));
      else this.#notes.dropped(inner.path ?? inner.name, "only its own protocol has this block");
    }
    const status = part.isError === undefined ? {} : { status: part.isError ? "error" : "success" };
    return { block: { toolResult: { toolUseId: fitToolId(part.callId, TOOL_ID), content, ...status } }, beside };
  }

  #placeMedia(block: JsonObject, part: MediaPart, content: JsonObject[], beside: JsonObject[]): void {
    if (this.#context.traits.mediaInToolResults !== false) {
      content.push(block);
      return;
    }
    this.#notes.approximated(
      part.path ?? part.kind,
      "this model does not accept media in tool results; it was sent after the result",
    );
    beside.push(block);
  }

  #encodeSearchResult(part: SearchResultPart): JsonObject {
    const { source, title, content, citations } = part;
    const texts = content.flatMap((inner) => {
      if (inner.type === "text") return inner.text.trim() === "" ? [] : [{ text: inner.text }];
      this.#notes.dropped(inner.path ?? inner.type, "this provider accepts only text in search results");
      return [];
    });
    if (this.#context.origin === "messages" && source !== undefined && title !== undefined) {
      const cited = citations === undefined ? {} : { citations: { enabled: citations } };
      return { searchResult: { source, title, content: texts, ...cited } };
    }
    this.#notes.approximated(part.path ?? "search_result", "this model does not support search results; sent as text");
    return { text: [title, source, ...texts.map(({ text }) => text)].filter(Boolean).join("\n") };
  }

  #mark(cache: CacheMark | undefined, part: Part): JsonObject[] {
    if (cache === undefined) return [];
    if (takesCachePoints(this.#context)) return [cachePoint(cache)];
    this.#notes.dropped(fieldPath(this.#call.fieldNames, part, "cache"), "this model does not support cache marks");
    return [];
  }

  #dropSignature(part: Part): void {
    this.#notes.dropped(
      fieldPath(this.#call.fieldNames, part.path, "signature"),
      "only the model that created it can read it",
    );
  }
}

/** The object in a JSON text, with its keys in order (H05). */
function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseInOrder(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Arguments that the model malformed, or a plain-text result.
    return undefined;
  }
}
