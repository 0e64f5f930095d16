import type { JsonObject } from "../../../json.ts";
import type { Frame, Rendered, SimulatedModel } from "../../../text/adapter.ts";
import { type Plan, type Segment, type Span, textOfSpans } from "../../../text/plan.ts";
import { sign } from "../../../text/signature.ts";
import { fragments } from "../../../text/tokens.ts";
import { invalid, openaiFailure } from "../../openai/text/errors.ts";
import { annotationsOf, argumentsOf, FINISH, usageOf } from "../../openai/text/render.ts";
import type { HostBehaviour } from "./behaviour.ts";
import { streamedError } from "./errors.ts";

interface HostRenderOptions {
  host: HostBehaviour;
  includeUsage: boolean;
  /** The caller asked for its thoughts apart from the text (MiniMax's `reasoning_split`). */
  split: boolean;
}

type Call = Segment & { type: "call" };

const TOKENS_PER_FRAGMENT = 2;
const HUGE_TOKENS = 20_000;
const TOKENS_PER_LARGE_FRAGMENT = 4_000;

/** A plan's answer in the words of one host. */
class HostAnswer {
  readonly host: HostBehaviour;
  readonly thoughts: string;
  readonly spans: Span[];
  readonly text: string;
  readonly calls: Call[];
  readonly position: HostBehaviour["thoughts"];
  readonly envelope: JsonObject;

  constructor(
    readonly plan: Plan,
    readonly model: SimulatedModel,
    readonly options: HostRenderOptions,
    createdSeconds: number,
    showThoughts: boolean,
  ) {
    this.host = options.host;
    this.position = options.split ? "details" : options.host.thoughts;
    const thoughts = plan.segments.flatMap((segment) => (segment.type === "thinking" ? [segment.text] : []));
    this.thoughts = showThoughts ? thoughts.join("") : "";
    this.spans = plan.segments.flatMap((segment) => (segment.type === "text" ? segment.spans : []));
    this.text = textOfSpans(this.spans);
    this.calls = plan.segments.filter((segment) => segment.type === "call");
    this.envelope = {
      id: plan.seed.token("host answer id", 20),
      created: createdSeconds,
      model: model.facts.name,
      ...options.host.extras,
    };
  }

  callId(call: Call): string {
    const { prefix, length } = this.host.callIds ?? { prefix: "call_", length: 24 };
    return prefix + this.plan.seed.token(`call ${call.ordinal}`, length);
  }

  get usage(): JsonObject | undefined {
    if (this.model.traits.quirk === "no-usage") return undefined;
    const usage = usageOf(this.plan);
    const thoughts = this.host.thoughtsUncounted ? { completion_tokens: this.plan.usage.output } : {};
    return { ...usage, ...thoughts, ...this.host.usageExtras };
  }

  /** The members in which a stretch of thoughts travels. */
  thoughtMembers(text: string): JsonObject {
    switch (this.position) {
      case "reasoning_content":
        return { reasoning_content: text };
      case "reasoning":
        return { reasoning: text };
      case "details":
        return { reasoning: text, reasoning_details: [this.detail({ text })] };
      case "parts":
        return { content: [{ type: "thinking", thinking: [{ type: "text", text }] }] };
      case "tags":
        return { content: text };
      case "unseen":
        return {};
    }
  }

  detail(members: JsonObject): JsonObject {
    return { type: "reasoning.text", ...members, format: "simulator-v1", index: 0 };
  }

  get signature(): string {
    return sign("details", this.thoughts, this.plan.seed);
  }

  /** The text with the thoughts in it, where the host keeps them there. */
  get tagged(): string {
    return this.position === "tags" && this.thoughts !== "" ? `<think>\n${this.thoughts}\n</think>\n\n` : "";
  }
}

function wholeCall(answer: HostAnswer, call: Call): JsonObject {
  return {
    id: answer.callId(call),
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
  };
}

function wholeMessage(answer: HostAnswer): JsonObject {
  const { thoughts, calls, position } = answer;
  const text = answer.tagged + answer.text;
  const plain = text === "" && calls.length > 0 ? null : text;
  const shown = thoughts === "" || position === "tags" ? {} : answer.thoughtMembers(thoughts);
  const content =
    position === "parts" && Array.isArray(shown.content) && text !== ""
      ? [...shown.content, { type: "text", text }]
      : (shown.content ?? plain);
  const annotations = annotationsOf(answer.spans);
  return {
    role: "assistant",
    ...shown,
    content,
    ...(position === "details" && thoughts !== ""
      ? { reasoning_details: [answer.detail({ text: thoughts, signature: answer.signature })] }
      : {}),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => wholeCall(answer, call)) }),
  };
}

function renderWhole(answer: HostAnswer): string {
  const { usage } = answer;
  return JSON.stringify({
    ...answer.envelope,
    object: "chat.completion",
    choices: [{ index: 0, message: wholeMessage(answer), finish_reason: FINISH[answer.plan.stop] }],
    ...(usage === undefined ? {} : { usage }),
  });
}

class ChunkWriter {
  readonly frames: Frame[] = [];
  readonly #answer: HostAnswer;

  constructor(answer: HostAnswer) {
    this.#answer = answer;
    const { comment, leadingChunk } = answer.host;
    if (comment !== undefined) this.#write(`: ${comment}\n\n`, false, 0);
    if (leadingChunk !== undefined) this.chunk(leadingChunk);
  }

  #write(text: string, content: boolean, tokens: number): void {
    this.frames.push({ text, content, tokens });
  }

  chunk(members: JsonObject, tokens?: number): void {
    const chunk = { ...this.#answer.envelope, object: "chat.completion.chunk", ...members };
    this.#write(`data: ${JSON.stringify(chunk)}\n\n`, tokens !== undefined, tokens ?? 0);
  }

  delta(delta: JsonObject, tokens?: number): void {
    const { deltas, usageUnasked } = this.#answer.host;
    const full =
      deltas === "null keys"
        ? { content: null, reasoning_content: null, ...delta }
        : deltas === "role each time"
          ? { role: "assistant", ...delta }
          : delta;
    const rest: JsonObject = deltas === "sparse" ? {} : { logprobs: null, finish_reason: null };
    const showsUsage = this.#answer.options.includeUsage && (deltas === "null keys" || !usageUnasked);
    const usage: JsonObject = showsUsage ? { usage: null } : {};
    this.chunk({ choices: [{ index: 0, delta: full, ...rest }], ...usage }, tokens);
  }

  /** The last chunk with a choice, and usage where the host puts it. */
  finish(): void {
    const { host, plan, usage: counted, options, envelope, model } = this.#answer;
    const usage = options.includeUsage ? counted : undefined;
    const here = usage !== undefined && host.usage !== "separate" && host.usage !== "in choice";
    const choice: JsonObject = {
      index: 0,
      delta: host.deltas === "null keys" ? { content: "", reasoning_content: null } : {},
      finish_reason: FINISH[plan.stop],
      ...(usage !== undefined && host.usage === "in choice" ? { usage } : {}),
    };
    this.chunk({
      choices: [choice],
      ...(here ? { usage } : {}),
      ...(here && host.usage === "x_groq" ? { x_groq: { id: envelope.id ?? "", usage } } : {}),
    });
    if (usage !== undefined && host.usage === "separate") this.chunk({ choices: [], usage });
    if (model.traits.quirk !== "no-done") this.#write("data: [DONE]\n\n", false, 0);
  }
}

function writeThoughts(writer: ChunkWriter, answer: HostAnswer): void {
  if (answer.thoughts === "") return;
  const text = answer.tagged === "" ? answer.thoughts : answer.tagged;
  for (const fragment of fragments(text, TOKENS_PER_FRAGMENT))
    writer.delta(answer.thoughtMembers(fragment.text), fragment.tokens);
  if (answer.position === "details") {
    writer.delta({ reasoning_details: [answer.detail({ signature: answer.signature })] });
  }
}

function writeText(writer: ChunkWriter, answer: HostAnswer): void {
  const tokensEach = answer.plan.usage.output > HUGE_TOKENS ? TOKENS_PER_LARGE_FRAGMENT : 1;
  for (const fragment of fragments(answer.text, tokensEach)) writer.delta({ content: fragment.text }, fragment.tokens);
  const annotations = annotationsOf(answer.spans);
  if (annotations.length > 0) writer.delta({ annotations });
}

function writeCalls(writer: ChunkWriter, answer: HostAnswer): void {
  const { calls, host } = answer;
  if (calls.length === 0) return;
  if (host.calls === "unindexed") {
    const whole = calls.map((call) => ({
      id: answer.callId(call),
      function: wholeCall(answer, call).function ?? null,
    }));
    writer.delta({ content: "", tool_calls: whole }, calls.length);
    return;
  }
  for (const call of calls) {
    const index = answer.model.traits.quirk === "parallel-same-index" ? 0 : call.ordinal;
    if (host.calls === "whole") {
      writer.delta({ tool_calls: [{ index, ...wholeCall(answer, call) }] }, 1);
      continue;
    }
    const head = { index, id: answer.callId(call), type: "function" };
    writer.delta({ tool_calls: [{ ...head, function: { name: call.name, arguments: "" } }] }, 1);
    for (const fragment of fragments(argumentsOf(call), TOKENS_PER_FRAGMENT)) {
      const part: JsonObject =
        host.calls === "empty ids"
          ? { index, id: "", type: "function", function: { arguments: fragment.text } }
          : { index, function: { arguments: fragment.text } };
      writer.delta({ tool_calls: [part] }, fragment.tokens);
    }
  }
}

function renderFrames(answer: HostAnswer): Frame[] {
  const writer = new ChunkWriter(answer);
  const { host } = answer;
  if (host.usage === "x_groq") {
    const opening = { index: 0, delta: { role: "assistant", content: null }, logprobs: null, finish_reason: null };
    writer.chunk({ choices: [opening], x_groq: { id: "req_simulated_groq" } });
  } else {
    writer.delta({ role: "assistant", content: "" });
  }
  writeThoughts(writer, answer);
  writeText(writer, answer);
  writeCalls(writer, answer);
  writer.finish();
  return writer.frames;
}

export function renderHostChat(
  plan: Plan,
  model: SimulatedModel,
  options: HostRenderOptions,
  nowMs: number,
  showThoughts: boolean,
): Rendered {
  if (plan.stop === "blocked") {
    throw invalid("Simulated: your prompt was flagged and not processed.", null, "content_filter");
  }
  const answer = new HostAnswer(plan, model, options, Math.floor(nowMs / 1_000), showThoughts);
  return {
    headers: {},
    whole: () => renderWhole(answer),
    frames: () => renderFrames(answer),
    frameType: "text/event-stream; charset=utf-8",
    errorFrame: () => streamedError(openaiFailure("500", ""), options.host, answer.envelope),
    garbageFrame: 'data: {"id":"broken","object":"chat.completion.chunk","choices":[{"index":0,"del\n\n',
  };
}
