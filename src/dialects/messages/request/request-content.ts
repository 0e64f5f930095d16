import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { type FieldName, fieldPath } from "../../../canon/field-names.ts";
import type { Notes } from "../../../canon/notes.ts";
import type {
  MediaPart,
  Part,
  SearchResultPart,
  ServerToolResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../../canon/part.ts";
import { meansNoArguments } from "../../answer/means-no-arguments.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import { FREE_TEXT_ARGUMENT } from "../../request/free-text-tool.ts";
import type { CacheMarks } from "../cache.ts";
import { encodeCitation } from "../citations.ts";
import { encodeSource } from "../media.ts";
import { FALLBACK } from "../native-words.ts";
import { rawOpaque } from "../opaque-values.ts";
import type { MessagesQuirks } from "../quirks.ts";
import { encodeSearchResults, encodeServerToolCall } from "../search.ts";
import { encodeOwnThinking } from "../thinking.ts";
import { fitCallId, parseInput } from "../tool-input.ts";

/** Writes the parts of one call as blocks for an upstream, and notes what it cannot represent. */
export class RequestContent {
  readonly #call: CanonCall;
  readonly #target: EncodeRequestContext<MessagesQuirks>;
  readonly #notes: Notes;
  readonly #marks: CacheMarks;
  /** Ids of hosted tool calls whose results the target can read. */
  readonly #readable: ReadonlySet<string>;

  constructor(call: CanonCall, target: EncodeRequestContext<MessagesQuirks>, notes: Notes, marks: CacheMarks) {
    this.#call = call;
    this.#target = target;
    this.#notes = notes;
    this.#marks = marks;
    this.#readable = new Set(
      call.turns
        .flatMap(({ parts }) => parts)
        .filter((part) => part.type === "server-tool-result")
        .filter((part) => this.#canRead(part))
        .map(({ callId }) => callId),
    );
  }

  /** The blocks of a part; none if the target does not accept it. */
  encode(part: Part, role: "user" | "assistant" | "system"): JsonObject[] {
    const blocks = this.#blocks(part, role);
    const [first] = blocks;
    if (part.signature !== undefined && part.type !== "reasoning") {
      this.#drop(part, "signature", "this protocol has signatures only on thinking");
    }
    if (part.cache === undefined) return blocks;
    if (first === undefined || part.type === "reasoning") {
      this.#drop(part, "cache", "this provider does not accept cache marks here");
      return blocks;
    }
    return [this.#marks.put(first, part.cache, this.#path(part, "cache"))];
  }

  #blocks(part: Part, role: "user" | "assistant" | "system"): JsonObject[] {
    switch (part.type) {
      case "text":
        return this.#text(part);
      case "refusal":
        this.#notes.approximated(part.path ?? "", "this protocol has no refusals; sent as text");
        return this.#text({ ...part, type: "text" });
      case "reasoning": {
        const block = encodeOwnThinking(part, this.#target.origin);
        if (block === undefined) this.#leaveOut(part, "this provider accepts only thinking that it signed itself");
        return block === undefined ? [] : [{ ...block, ...this.#extras(part) }];
      }
      case "media":
        return this.#media(part, role);
      case "tool-call":
        return [this.#toolCall(part)];
      case "tool-result":
        return [this.#toolResult(part)];
      case "search-result":
        return [this.#searchResult(part)];
      case "server-tool-call":
        return this.#isReadable(part.id)
          ? [{ ...encodeServerToolCall(part), ...this.#extras(part) }]
          : this.#foreign(part);
      case "server-tool-result":
        return this.#canRead(part)
          ? [{ ...encodeSearchResults(part, rawOpaque), ...this.#extras(part) }]
          : this.#foreign(part);
      case "native":
        if (part.name === FALLBACK && !this.#target.quirks.fallbackBlocks) return [];
        if (part.dialect === "messages") return [part.raw];
        this.#leaveOut(part, `this protocol has no block like ${part.name}`);
        return [];
      default:
        return part satisfies never;
    }
  }

  /** Upstreams reject text blocks that are blank. */
  #text(part: TextPart): JsonObject[] {
    if (part.text.trim() === "") {
      if (part.text !== "") this.#leaveOut(part, "this provider rejects text that is only whitespace");
      return [];
    }
    const citations = (part.citations ?? []).filter(
      (citation) => citation.type !== "web" || citation.index?.origin === this.#target.origin,
    );
    if (citations.length < (part.citations?.length ?? 0)) {
      this.#drop(part, "citations", "this provider accepts only citations that it created itself");
    }
    return [
      {
        type: "text",
        text: part.text,
        ...(citations.length === 0 ? {} : { citations: citations.map((one) => encodeCitation(one, rawOpaque)) }),
        ...this.#extras(part),
      },
    ];
  }

  #media(part: MediaPart, role: "user" | "assistant" | "system"): JsonObject[] {
    const { quirks, origin } = this.#target;
    if (role !== "user" || !quirks.media.includes(part.kind)) {
      this.#leaveOut(
        part,
        `this provider does not accept ${part.kind} content${role === "user" ? "" : ` in ${role} messages`}`,
      );
      return [];
    }
    const encoded = encodeSource(part, { origin, urls: quirks.mediaUrls }, (inner) => this.encode(inner, role));
    if ("reason" in encoded) {
      this.#leaveOut(part, encoded.reason);
      return [];
    }
    const { kind, source } = encoded;
    const { title, context, citations } = part;
    if (part.detail !== undefined && part.detail !== "auto") {
      this.#drop(part, "detail", "this protocol has no detail setting for images");
    }
    if (part.clip !== undefined) this.#drop(part, "clip", "this protocol does not support clips");
    if (kind === "image") {
      if (title !== undefined) this.#drop(part, "title", "this protocol has no titles for images");
      return [{ type: "image", source, ...this.#extras(part) }];
    }
    return [
      withoutAbsent({
        type: "document",
        source,
        title,
        context,
        ...(citations === undefined ? {} : { citations: { enabled: citations } }),
        ...this.#extras(part),
      }),
    ];
  }

  #toolCall(part: ToolCallPart): JsonObject {
    const input = part.custom ? { [FREE_TEXT_ARGUMENT]: part.input } : parseInput(part.input);
    if (input === undefined) {
      this.#notes.approximated(part.path ?? "", "the call's arguments are not a JSON object; an empty object was sent");
    } else if (meansNoArguments(part)) {
      this.#notes.approximated(
        part.path ?? "",
        `the call's arguments are ${part.input.trim()}; an empty object was sent`,
      );
    }
    return {
      type: "tool_use",
      id: fitCallId(part.id),
      name: part.name,
      input: input ?? {},
      ...this.#extras(part),
    };
  }

  /** A single text is sent as a string, which every host of the dialect understands. */
  #toolResult(part: ToolResultPart): JsonObject {
    const content = part.content.flatMap((inner) => this.encode(inner, "user"));
    const [only] = content;
    const plain = content.length === 1 && Object.keys(only ?? {}).every((key) => key === "type" || key === "text");
    return {
      type: "tool_result",
      tool_use_id: fitCallId(part.callId),
      ...(content.length === 0 ? {} : { content: plain && only?.["type"] === "text" ? only["text"] : content }),
      ...(part.isError === undefined ? {} : { is_error: part.isError }),
      ...this.#extras(part),
    };
  }

  #searchResult(part: SearchResultPart): JsonObject {
    const { source, title, citations } = part;
    return withoutAbsent({
      type: "search_result",
      source,
      title,
      content: part.content.flatMap((inner) => this.encode(inner, "user")),
      ...(citations === undefined ? {} : { citations: { enabled: citations } }),
      ...this.#extras(part),
    });
  }

  /** Pages are read only by their encrypted content, which must be the target's. */
  #canRead({ result }: ServerToolResultPart): boolean {
    return "error" in result || result.pages.every(({ content }) => content?.origin === this.#target.origin);
  }

  /** A call whose result is of no kind that the canon knows can only come from the same dialect. */
  #isReadable(callId: string): boolean {
    if (this.#readable.has(callId)) return true;
    const searched = this.#call.turns.some(({ parts }) =>
      parts.some((part) => part.type === "server-tool-result" && part.callId === callId),
    );
    return !searched && this.#call.dialect === "messages";
  }

  #foreign(part: Part): [] {
    this.#leaveOut(part, "only the provider that ran this tool can read its results");
    return [];
  }

  #extras(part: Part): JsonObject {
    return this.#call.dialect === "messages" ? (part.extras ?? {}) : {};
  }

  #leaveOut(part: Part, reason: string): void {
    this.#notes.dropped(part.path ?? "", reason);
  }

  #drop(part: Part, field: FieldName, reason: string): void {
    this.#notes.dropped(this.#path(part, field), reason);
  }

  #path = (part: Part, field: FieldName): string => fieldPath(this.#call.fieldNames, part, field);
}
