import type { JsonObject } from "../../../json.ts";
import type { Frame, Rendered, SimulatedModel } from "../../../text/adapter.ts";
import { type Plan, type Segment, textOfSpans } from "../../../text/plan.ts";
import { seal, sign } from "../../../text/signature.ts";
import { fragments } from "../../../text/tokens.ts";
import { REDACTED_PURPOSE, THINKING_PURPOSE } from "../../anthropic/text/read-blocks.ts";
import { eventFrame, exceptionFrame, paddedEvent } from "./framing.ts";

const STOP_REASONS = {
  end: "end_turn",
  sequence: "stop_sequence",
  length: "max_tokens",
  tool: "tool_use",
  refusal: "content_filtered",
  blocked: "guardrail_intervened",
} as const;

const TOKENS_PER_FRAGMENT = 3;
const HUGE_TOKENS = 20_000;
const TOKENS_PER_LARGE_FRAGMENT = 4_000;

interface ConverseOptions {
  isClaude: boolean;
  omitThinking: boolean;
  wanted: readonly string[];
}

/** A content block whole, and the deltas in which it is streamed. Only calls have a start. */
interface Block {
  whole: JsonObject;
  start?: JsonObject;
  deltas: { body: JsonObject; tokens: number }[];
}

function inFragments(text: string, tokensEach: number, body: (fragment: string) => JsonObject): Block["deltas"] {
  return fragments(text, tokensEach).map((fragment) => ({ body: body(fragment.text), tokens: fragment.tokens }));
}

function thinkingBlock(text: string, plan: Plan, options: ConverseOptions, tokensEach: number): Block {
  const shown = options.omitThinking ? "" : text;
  const signature = options.isClaude ? sign(THINKING_PURPOSE, shown, plan.seed) : undefined;
  return {
    whole: { reasoningContent: { reasoningText: { text: shown, ...(signature === undefined ? {} : { signature }) } } },
    deltas: [
      ...inFragments(shown, tokensEach, (fragment) => ({ reasoningContent: { text: fragment } })),
      ...(signature === undefined ? [] : [{ body: { reasoningContent: { signature } }, tokens: 0 }]),
    ],
  };
}

function redactedBlock(text: string, plan: Plan): Block {
  // The model's own value is text; as bytes of this host it is in base64 once more.
  const redactedContent = Buffer.from(seal(REDACTED_PURPOSE, text, plan.seed)).toString("base64");
  const whole = { reasoningContent: { redactedContent } };
  return { whole, deltas: [{ body: whole, tokens: 0 }] };
}

function callBlock(segment: Segment & { type: "call" }, plan: Plan, tokensEach: number): Block {
  const toolUseId = `tooluse_${plan.seed.token(`call ${segment.ordinal}`, 22)}`;
  const { name, input } = segment;
  const text = JSON.stringify(input);
  return {
    whole: { toolUse: { toolUseId, name, input } },
    start: { toolUse: { toolUseId, name } },
    deltas: inFragments(text === "{}" ? "" : text, tokensEach, (fragment) => ({ toolUse: { input: fragment } })),
  };
}

function segmentBlocks(segment: Segment, plan: Plan, options: ConverseOptions, tokensEach: number): Block[] {
  switch (segment.type) {
    case "thinking":
      return [thinkingBlock(segment.text, plan, options, tokensEach)];
    case "redacted":
      return options.isClaude ? [redactedBlock(segment.text, plan)] : [];
    case "text": {
      const text = textOfSpans(segment.spans);
      return [{ whole: { text }, deltas: inFragments(text, tokensEach, (fragment) => ({ text: fragment })) }];
    }
    case "call":
      return [callBlock(segment, plan, tokensEach)];
    case "search":
      return [];
  }
}

function usageOf({ usage }: Plan, isClaude: boolean): JsonObject {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const inputTokens = usage.input - usage.cacheRead - written;
  const outputTokens = usage.output + usage.reasoning;
  const details = [
    { ttl: "5m", inputTokens: usage.cacheWrite5m },
    { ttl: "1h", inputTokens: usage.cacheWrite1h },
  ];
  return {
    inputTokens,
    outputTokens,
    totalTokens: usage.input + outputTokens,
    ...(isClaude ? { cacheReadInputTokens: usage.cacheRead, cacheWriteInputTokens: written } : {}),
    ...(usage.cacheWrite1h > 0 ? { cacheDetails: details } : {}),
    serverToolUsage: {},
  };
}

/** What the caller wanted to see of the model's own answer, as far as it is there. */
function additional(plan: Plan, wanted: readonly string[], mode: "whole" | "stream"): JsonObject {
  if (plan.stopSequence === undefined) return {};
  const fields = { stop_sequence: plan.stopSequence };
  if (mode === "whole" && wanted.includes("/stop_sequence")) return { additionalModelResponseFields: fields };
  if (mode === "stream" && wanted.includes("/delta/stop_sequence"))
    return { additionalModelResponseFields: { delta: fields } };
  return {};
}

export function renderConverse(plan: Plan, model: SimulatedModel, options: ConverseOptions): Rendered {
  const tokensEach = plan.usage.output > HUGE_TOKENS ? TOKENS_PER_LARGE_FRAGMENT : TOKENS_PER_FRAGMENT;
  const blocks = plan.segments.flatMap((segment) => segmentBlocks(segment, plan, options, tokensEach));
  const stopReason = STOP_REASONS[plan.stop];
  const usage: JsonObject = model.traits.quirk === "no-usage" ? {} : { usage: usageOf(plan, options.isClaude) };
  const metrics = { latencyMs: 10 };

  function frames(): Frame[] {
    const written: Frame[] = [];
    const write = (type: string, body: JsonObject, tokens?: number) => {
      const text = paddedEvent(type, body, plan.seed, written.length);
      written.push({ text, content: tokens !== undefined, tokens: tokens ?? 0 });
    };
    write("messageStart", { role: "assistant" });
    for (const [contentBlockIndex, block] of blocks.entries()) {
      if (block.start !== undefined) write("contentBlockStart", { contentBlockIndex, start: block.start });
      for (const { body, tokens } of block.deltas)
        write("contentBlockDelta", { contentBlockIndex, delta: body }, tokens);
      write("contentBlockStop", { contentBlockIndex });
    }
    write("messageStop", { stopReason, ...additional(plan, options.wanted, "stream") });
    write("metadata", { metrics, ...usage });
    return written;
  }

  return {
    headers: {},
    whole: () =>
      JSON.stringify({
        metrics,
        output: { message: { content: blocks.map((block) => block.whole), role: "assistant" } },
        stopReason,
        ...usage,
        ...additional(plan, options.wanted, "whole"),
      }),
    frames,
    frameType: "application/vnd.amazon.eventstream",
    binary: true,
    errorFrame: (first) =>
      first
        ? exceptionFrame("throttlingException", "Too many requests, please wait before trying again.")
        : exceptionFrame("modelStreamErrorException", "Simulated: the model broke off."),
    garbageFrame: eventFrame("contentBlockDelta", '{"contentBlockIndex":0,"del'),
  };
}
