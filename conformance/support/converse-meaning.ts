import { bytesOf, type Recording, textOf } from "../../testing/recordings.ts";
import { eventStreamPayloads } from "./event-stream-payloads.ts";
import type { Meaning } from "./sdk-meaning.ts";

const STOPS: Record<string, Meaning["stop"]> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool",
  content_filtered: "filter",
  guardrail_intervened: "filter",
};

// biome-ignore lint/suspicious/noExplicitAny: the wire as it is
type Json = any;

/** The recording read by hand: no SDK of that vendor is used here. */
export function converseMeaning(recording: Recording): Meaning {
  const blocks: Json[] = [];
  let stop = "";
  let usage: Json;
  if (!recording.stream) {
    const body: Json = JSON.parse(textOf(recording));
    for (const block of body.output.message.content) {
      const input = block.toolUse
        ? { toolUse: { name: block.toolUse.name, input: JSON.stringify(block.toolUse.input) } }
        : {};
      blocks.push({ text: block.text ?? "", thought: block.reasoningContent?.reasoningText?.text ?? "", ...input });
    }
    stop = body.stopReason;
    usage = body.usage;
  } else {
    for (const payload of eventStreamPayloads(bytesOf(recording)) as Json[]) {
      const index = payload.contentBlockIndex;
      if (index !== undefined) blocks[index] ??= { text: "", thought: "" };
      if (payload.start?.toolUse) blocks[index].toolUse = { name: payload.start.toolUse.name, input: "" };
      blocks[index] && Object.assign(blocks[index], added(blocks[index], payload.delta ?? {}));
      stop = payload.stopReason ?? stop;
      usage = payload.usage ?? usage;
    }
  }
  return {
    text: blocks.map(({ text }) => text).join(""),
    reasoning: blocks.map(({ thought }) => thought).join(""),
    calls: blocks.flatMap(({ toolUse }) =>
      toolUse ? [{ name: toolUse.name, args: JSON.parse(toolUse.input || "{}") }] : [],
    ),
    stop: STOPS[stop] ?? "other",
    refused: false,
    usage: usage && {
      input: usage.inputTokens + (usage.cacheReadInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0),
      cached: usage.cacheReadInputTokens ?? 0,
      output: usage.outputTokens,
    },
  };
}

const added = (block: Json, delta: Json): Json => ({
  text: block.text + (delta.text ?? ""),
  thought: block.thought + (delta.reasoningContent?.text ?? ""),
  ...(delta.toolUse ? { toolUse: { ...block.toolUse, input: block.toolUse.input + delta.toolUse.input } } : {}),
});
