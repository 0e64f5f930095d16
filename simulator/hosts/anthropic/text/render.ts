import type { JsonObject } from "../../../json.ts";
import type { Frame, Rendered, SimulatedModel } from "../../../text/adapter.ts";
import type { Plan } from "../../../text/plan.ts";
import { fragments } from "../../../text/tokens.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { invalid } from "./errors.ts";

const STOP_REASONS = {
  end: "end_turn",
  sequence: "stop_sequence",
  length: "max_tokens",
  tool: "tool_use",
  refusal: "refusal",
  blocked: "refusal",
} as const;

const OVERLOADED = { details: null, type: "overloaded_error", message: "Overloaded" };
const HUGE_TOKENS = 20_000;
const TOKENS_PER_FRAGMENT = 3;
const TOKENS_PER_LARGE_FRAGMENT = 4_000;

/** `opening` is what the host knows before it has generated anything. */
function usageOf(plan: Plan, when: "opening" | "closing"): JsonObject {
  const { usage } = plan;
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = usage.input - usage.cacheRead - written;
  const output = usage.output + usage.reasoning;
  return {
    input_tokens: when === "opening" ? input : input + usage.searchInput,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: usage.cacheRead,
    ...(when === "opening"
      ? {
          cache_creation: {
            ephemeral_5m_input_tokens: usage.cacheWrite5m,
            ephemeral_1h_input_tokens: usage.cacheWrite1h,
          },
          output_tokens: Math.min(1, output),
          service_tier: "standard",
          inference_geo: "not_available",
        }
      : { output_tokens: output }),
    ...(when === "closing" && usage.reasoning > 0
      ? { output_tokens_details: { thinking_tokens: usage.reasoning } }
      : {}),
    ...(when === "closing" && usage.searches > 0
      ? { server_tool_use: { web_search_requests: usage.searches, web_fetch_requests: 0 } }
      : {}),
  };
}

function message(plan: Plan, model: SimulatedModel, fields: JsonObject): JsonObject {
  return {
    model: model.facts.name,
    id: `msg_01${plan.seed.token("message id", 22)}`,
    type: "message",
    role: "assistant",
    ...fields,
  };
}

function ending(plan: Plan): JsonObject {
  const details = plan.stop === "refusal" ? { type: "refusal", category: null, explanation: null } : null;
  return { stop_reason: STOP_REASONS[plan.stop], stop_sequence: plan.stopSequence ?? null, stop_details: details };
}

/** Blanks before the last brace, in no pattern: the host pads its events so that their length reveals nothing. */
function event(plan: Plan, data: JsonObject, ordinal: number): string {
  const json = JSON.stringify(data);
  const padding = " ".repeat(plan.seed.number(`padding ${ordinal}`, 16));
  return `event: ${String(data.type)}\ndata: ${json.slice(0, -1)}${padding}}\n\n`;
}

class EventWriter {
  readonly frames: Frame[] = [];
  readonly #plan: Plan;
  #pinged = false;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  write(data: JsonObject, tokens?: number): void {
    const text = event(this.#plan, data, this.frames.length);
    this.frames.push({ text, content: tokens !== undefined, tokens: tokens ?? 0 });
  }

  /** The first ping comes after the first block has started, or instead of it. */
  pingOnce(): void {
    if (!this.#pinged) this.frames.push({ text: 'event: ping\ndata: {"type": "ping"}\n\n', content: false, tokens: 0 });
    this.#pinged = true;
  }

  block(block: Block, index: number, tokensEach: number): void {
    this.write({ type: "content_block_start", index, content_block: block.start });
    this.pingOnce();
    const delta = (fields: JsonObject, tokens: number): void =>
      this.write({ type: "content_block_delta", index, delta: fields }, tokens);
    for (const fields of block.before) delta(fields, 0);
    const { stream } = block;
    for (const fragment of stream === undefined ? [] : fragments(stream.text, tokensEach)) {
      delta({ type: stream?.type ?? "", [stream?.member ?? ""]: fragment.text }, fragment.tokens);
    }
    for (const fields of block.after) delta(fields, 0);
    this.write({ type: "content_block_stop", index });
  }
}

function renderFrames(plan: Plan, model: SimulatedModel, blocks: readonly Block[]): Frame[] {
  const writer = new EventWriter(plan);
  const silent = model.traits.quirk === "no-usage";
  const opening = { content: [], stop_reason: null, stop_sequence: null, stop_details: null };
  const usage: JsonObject = silent ? {} : { usage: usageOf(plan, "opening") };
  writer.write({ type: "message_start", message: message(plan, model, { ...opening, ...usage }) });
  const tokensEach = plan.usage.output > HUGE_TOKENS ? TOKENS_PER_LARGE_FRAGMENT : TOKENS_PER_FRAGMENT;
  for (const [index, block] of blocks.entries()) writer.block(block, index, tokensEach);
  writer.pingOnce();
  const closing: JsonObject = silent ? {} : { usage: usageOf(plan, "closing") };
  writer.write({ type: "message_delta", delta: ending(plan), ...closing });
  writer.write({ type: "message_stop" });
  return writer.frames;
}

function renderWhole(plan: Plan, model: SimulatedModel, blocks: readonly Block[]): string {
  const usage: JsonObject =
    model.traits.quirk === "no-usage" ? {} : { usage: { ...usageOf(plan, "opening"), ...usageOf(plan, "closing") } };
  const content = blocks.map((block) => block.whole);
  return JSON.stringify(message(plan, model, { content, ...ending(plan), ...usage }));
}

export function renderMessage(plan: Plan, model: SimulatedModel, omitThinking: boolean): Rendered {
  if (plan.stop === "blocked") throw invalid("", "Simulated: the prompt was blocked by the content filtering policy");
  const blocks = blocksOf(plan, omitThinking);
  return {
    headers: {
      "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
      "anthropic-ratelimit-requests-limit": "4000",
      "anthropic-ratelimit-requests-remaining": "3999",
    },
    whole: () => renderWhole(plan, model, blocks),
    frames: () => renderFrames(plan, model, blocks),
    frameType: "text/event-stream; charset=utf-8",
    errorFrame: () => `event: error\ndata: ${JSON.stringify({ type: "error", error: OVERLOADED })}\n\n`,
    garbageFrame: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"del\n\n',
  };
}
