import { isObject, type JsonObject } from "../../../json.ts";
import type { Plan, Segment, Span } from "../../../text/plan.ts";
import { seal, sign } from "../../../text/signature.ts";
import { REDACTED_PURPOSE, THINKING_PURPOSE } from "./read-blocks.ts";

/** A content block as a whole, and how it is streamed. */
export interface Block {
  whole: JsonObject;
  /** The block in content_block_start. */
  start: JsonObject;
  /** A delta's `type`, and the text that is sent in fragments under `member`. */
  stream?: { type: string; member: string; text: string };
  /** Sent before the fragments, such as an empty fragment or a citation. */
  before: JsonObject[];
  /** Sent after them, such as the signature. */
  after: JsonObject[];
}

function thinkingBlock(text: string, plan: Plan, omitted: boolean): Block {
  const thinking = omitted ? "" : text;
  const signature = sign(THINKING_PURPOSE, thinking, plan.seed);
  return {
    whole: { type: "thinking", thinking, signature },
    start: { type: "thinking", thinking: "", signature: "" },
    stream: { type: "thinking_delta", member: "thinking", text: thinking },
    before: [],
    after: [{ type: "signature_delta", signature }],
  };
}

function textBlock(span: Span, plan: Plan, index: number): Block {
  const stream = { type: "text_delta", member: "text", text: span.text };
  if (span.source === undefined) {
    return {
      whole: { type: "text", text: span.text },
      start: { type: "text", text: "" },
      stream,
      before: [],
      after: [],
    };
  }
  const citation: JsonObject = {
    type: "web_search_result_location",
    cited_text: span.source.quote,
    url: span.source.url,
    title: span.source.title,
    encrypted_index: sign("anthropic citation", span.source.url, plan.seed.derive(`citation ${index}`)),
  };
  return {
    whole: { citations: [citation], type: "text", text: span.text },
    start: { citations: [], type: "text", text: "" },
    stream,
    before: [{ type: "citations_delta", citation }],
    after: [],
  };
}

function inputBlock(type: "tool_use" | "server_tool_use", id: string, name: string, input: JsonObject): Block {
  const text = JSON.stringify(input);
  return {
    whole: { type, id, name, input, caller: { type: "direct" } },
    start: { type, id, name, input: {}, caller: { type: "direct" } },
    // A call without arguments sends its first, empty fragment and no other.
    stream: { type: "input_json_delta", member: "partial_json", text: text === "{}" ? "" : text },
    before: [{ type: "input_json_delta", partial_json: "" }],
    after: [],
  };
}

function wholeBlock(whole: JsonObject): Block {
  return { whole, start: whole, before: [], after: [] };
}

function searchBlocks(search: Segment & { type: "search" }, plan: Plan): Block[] {
  const id = `srvtoolu_01${plan.seed.token("search", 22)}`;
  const content = search.results.map((result) => ({
    type: "web_search_result",
    title: result.title,
    url: result.url,
    encrypted_content: seal("anthropic search result", result.quote, plan.seed),
    page_age: null,
  }));
  return [
    inputBlock("server_tool_use", id, "web_search", { query: search.query }),
    wholeBlock({ type: "web_search_tool_result", tool_use_id: id, content, caller: { type: "direct" } }),
  ];
}

function segmentBlocks(segment: Segment, plan: Plan, omitThinking: boolean): Block[] {
  switch (segment.type) {
    case "thinking":
      return [thinkingBlock(segment.text, plan, omitThinking)];
    case "redacted":
      return [wholeBlock({ type: "redacted_thinking", data: seal(REDACTED_PURPOSE, segment.text, plan.seed) })];
    case "search":
      return searchBlocks(segment, plan);
    case "text":
      return segment.spans.map((span, index) => textBlock(span, plan, index));
    case "call": {
      const id = `toolu_01${plan.seed.token(`call ${segment.ordinal}`, 22)}`;
      return [inputBlock("tool_use", id, segment.name, isObject(segment.input) ? segment.input : {})];
    }
  }
}

/** The plan as content blocks, in their order. */
export function blocksOf(plan: Plan, omitThinking: boolean): Block[] {
  if (plan.stop === "refusal") return [];
  return plan.segments.flatMap((segment) => segmentBlocks(segment, plan, omitThinking));
}
