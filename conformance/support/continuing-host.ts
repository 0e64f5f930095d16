import type { Script } from "../../testing/memory-network.ts";
import { plainUsage } from "../../testing/plain-answer.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesAnswer, responsesUsage } from "../../testing/wires/responses-wire.ts";

type Json = Record<string, unknown>;

const TURNS = { chat: "messages", messages: "messages", genai: "contents", responses: "input" } as const;

/** The beginning of a response that a request asks its host to continue; undefined if there is none. */
function beginningIn(dialect: ScriptedDialect, body: string): string | undefined {
  const request = JSON.parse(body) as Record<string, Json[]>;
  const last = request[TURNS[dialect]]?.at(-1);
  if (last?.["role"] !== "assistant" && last?.["role"] !== "model") return undefined;
  const content = last["content"] ?? last["parts"];
  if (typeof content === "string") return content;
  return (content as { text?: string }[]).map(({ text }) => text ?? "").join("");
}

/** Tokens that the second host reports. */
const SECOND_USAGE = { input: 40, output: 9 };

/** A text as a host of the dialect streams it, in small pieces. */
export function streamText(dialect: ScriptedDialect, text: string): string {
  const pieces = text.match(/[\s\S]{1,9}/gu) ?? [];
  const usage = plainUsage(dialect, SECOND_USAGE.input, SECOND_USAGE.output);
  switch (dialect) {
    case "chat":
      return [
        ...pieces.map((content) => wire.chatChunk({ content })),
        wire.chatChunk({}, "stop"),
        wire.chatUsage(usage),
        wire.done,
      ].join("");
    case "messages":
      return (
        wire.messageStart({ input_tokens: SECOND_USAGE.input, output_tokens: 1 }) +
        wire.textBlock(...pieces) +
        wire.messageEnd(usage)
      );
    case "genai":
      return pieces.map((piece) => wire.genaiChunk(piece)).join("") + wire.genaiChunk("", "STOP", usage);
    case "responses": {
      const script = new ResponsesScript();
      const deltas = pieces.map((piece) => script.delta(piece)).join("");
      return script.begin() + deltas + script.close() + script.completed(usage);
    }
  }
}

/** A tool call in place of text. */
export function streamCall(dialect: ScriptedDialect): string {
  switch (dialect) {
    case "chat":
      return [
        wire.chatChunk({
          tool_calls: [{ index: 0, id: "call_x", type: "function", function: { name: "other", arguments: "{}" } }],
        }),
        wire.chatChunk({}, "tool_calls"),
        wire.done,
      ].join("");
    case "messages":
      return [
        wire.messageStart(),
        wire.event({
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id: "toolu_x", name: "other", input: {} },
        }),
        wire.messageEnd(),
      ].join("");
    case "genai":
      return `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ functionCall: { name: "other", args: {} } }] }, finishReason: "STOP", index: 0 }] })}\r\n\r\n`;
    case "responses": {
      const script = new ResponsesScript();
      const item = { id: "fc_x", type: "function_call", call_id: "call_x", name: "other", arguments: "{}" };
      const response = { ...responsesAnswer("", responsesUsage(10, 5)), output: [item] };
      return (
        script.event("created", { response: { ...response, status: "in_progress", output: [] } }) +
        script.event("output_item.added", { output_index: 0, item: { ...item, arguments: "" } }) +
        script.event("output_item.done", { output_index: 0, item }) +
        script.event("completed", { response })
      );
    }
  }
}

const EVENTS = { "content-type": "text/event-stream" };

/** The behaviour of a host that is asked to continue a response. */
export const MANNERS = {
  /** Says the rest. */
  honest: (dialect, whole, beginning) => streamText(dialect, whole.slice(beginning.length)),
  /** Repeats the last word, or a part of it. */
  "repeats a word": (dialect, whole, beginning) => streamText(dialect, whole.slice(beginning.search(/\S+\s*$/))),
  /** Says the last forty characters again. */
  "repeats forty characters": (dialect, whole, beginning) =>
    streamText(dialect, whole.slice(Math.max(0, beginning.length - 40))),
  restarts: (dialect, whole) => streamText(dialect, whole),
  "calls a tool": (dialect) => streamCall(dialect),
  /** Breaks off before sending any content; see `continuingHost`. */
  "fails too": () => "",
  /** Breaks off in the rest. */
  "breaks off too": (dialect, whole, beginning) => {
    const rest = streamText(dialect, `${whole.slice(beginning.length)}and more`);
    return rest.slice(0, rest.indexOf("\n\n", Math.floor(rest.length / 3)) + 2);
  },
} as const satisfies Record<string, (dialect: ScriptedDialect, whole: string, beginning: string) => string>;

export type Manner = keyof typeof MANNERS;

/** A host that knows the whole response, and is asked for the rest of it, or for all of it. */
export const continuingHost =
  (dialect: ScriptedDialect, whole: string, manner: Manner): Script =>
  async (reply, { body }) => {
    const beginning = beginningIn(dialect, body);
    if (beginning !== undefined && !whole.startsWith(beginning)) {
      reply.head(400);
      void reply.write(JSON.stringify({ error: { message: `not the beginning: ${JSON.stringify(beginning)}` } }));
      reply.end();
      return;
    }
    if (manner === "fails too" && beginning !== undefined) {
      reply.head(500);
      reply.end();
      return;
    }
    reply.head(200, EVENTS);
    await reply.write(
      beginning === undefined ? streamText(dialect, whole) : MANNERS[manner](dialect, whole, beginning),
    );
    if (manner === "breaks off too" && beginning !== undefined) reply.fail("broken");
    else reply.end();
  };
