import type { JsonObject } from "../../../json.ts";
import type { Frame, Rendered, SimulatedModel } from "../../../text/adapter.ts";
import { type TokenLogprob, tokenLogprobs } from "../../../text/logprobs.ts";
import { type Plan, type Segment, type Span, textOfSpans } from "../../../text/plan.ts";
import { fragments } from "../../../text/tokens.ts";
import { invalid, openaiFailure } from "./errors.ts";
import type { ChatRequest } from "./read-request.ts";
import { SpokenAnswer } from "./spoken-answer.ts";

export type RenderOptions = Omit<ChatRequest, "prompt" | "stream"> & { showThinking: boolean };

export const FINISH = {
  end: "stop",
  sequence: "stop",
  refusal: "stop",
  blocked: "content_filter",
  length: "length",
  tool: "tool_calls",
} as const;

/** The fragments of a huge answer are large, or it would be half a million frames. */
const HUGE_TOKENS = 20_000;
const TOKENS_PER_LARGE_FRAGMENT = 4_000;

export function usageOf(plan: Plan, audioTokens = 0): JsonObject {
  const { usage } = plan;
  const input = usage.input + usage.searchInput;
  const output = usage.output + usage.reasoning + audioTokens;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: usage.byModality.get("AUDIO") ?? 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: audioTokens,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function logprobsOf(text: string, plan: Plan, top: number | undefined, from: number): JsonObject | null {
  if (top === undefined) return null;
  const entry = ({ token, logprob }: TokenLogprob): JsonObject => ({ token, logprob, bytes: [...Buffer.from(token)] });
  const content = tokenLogprobs(text, plan.seed, top, from).map((one) => ({
    ...entry(one),
    top_logprobs: one.top.map(entry),
  }));
  return { content, refusal: null };
}

export function argumentsOf(call: Segment & { type: "call" }): string {
  return call.freeform ? String(call.input) : JSON.stringify(call.input);
}

export function annotationsOf(spans: readonly Span[]): JsonObject[] {
  let at = 0;
  return spans.flatMap((span) => {
    const start = at;
    at += span.text.length;
    if (span.source === undefined) return [];
    const { url, title } = span.source;
    return [{ type: "url_citation", url_citation: { start_index: start, end_index: at, url, title } }];
  });
}

/** The parts of a plan that this protocol can say. */
class ChatAnswer {
  readonly thinking: string;
  readonly spans: Span[];
  readonly text: string;
  readonly calls: (Segment & { type: "call" })[];
  readonly spoken: SpokenAnswer | undefined;

  constructor(
    readonly plan: Plan,
    readonly model: SimulatedModel,
    readonly options: RenderOptions,
    readonly createdSeconds: number,
  ) {
    const { segments } = plan;
    this.thinking = options.showThinking
      ? segments.flatMap((segment) => (segment.type === "thinking" ? [segment.text] : [])).join("")
      : "";
    this.spans = segments.flatMap((segment) => (segment.type === "text" ? segment.spans : []));
    this.text = textOfSpans(this.spans);
    this.calls = segments.filter((segment) => segment.type === "call");
    const id = `audio_${plan.seed.token("audio id", 24)}`;
    this.spoken = options.spoken && new SpokenAnswer(this.text, options.spoken, id, createdSeconds);
  }

  get refused(): boolean {
    return this.plan.stop === "refusal";
  }

  callId(ordinal: number): string {
    return `call_${this.plan.seed.token(`call ${ordinal}`, 24)}`;
  }

  envelope(object: string): JsonObject {
    return {
      id: `chatcmpl-${this.plan.seed.token("chat id", 29)}`,
      object,
      created: this.createdSeconds,
      model: `${this.model.facts.name}-2026-10-01`,
    };
  }

  get usage(): JsonObject | undefined {
    return this.model.traits.quirk === "no-usage" ? undefined : usageOf(this.plan, this.spoken?.tokens);
  }
}

function wholeCall(answer: ChatAnswer, call: Segment & { type: "call" }): JsonObject {
  const id = answer.callId(call.ordinal);
  if (call.freeform) return { id, type: "custom", custom: { name: call.name, input: argumentsOf(call) } };
  return { id, type: "function", function: { name: call.name, arguments: argumentsOf(call) } };
}

function renderWhole(answer: ChatAnswer): string {
  const { plan, options, calls, text, refused } = answer;
  const logprobs = logprobsOf(text, plan, options.topLogprobs, 0);
  const message: JsonObject = {
    role: "assistant",
    content: refused || (text === "" && calls.length > 0) || answer.spoken !== undefined ? null : text,
    ...(answer.spoken === undefined ? {} : { audio: answer.spoken.whole() }),
    ...(answer.thinking === "" ? {} : { reasoning_content: answer.thinking }),
    refusal: refused ? text : null,
    annotations: annotationsOf(answer.spans),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => wholeCall(answer, call)) }),
  };
  const { usage } = answer;
  const completion: JsonObject = {
    ...answer.envelope("chat.completion"),
    choices: [{ index: 0, message, logprobs, finish_reason: FINISH[plan.stop] }],
    ...(usage === undefined ? {} : { usage }),
    service_tier: "default",
    system_fingerprint: "fp_simulator",
  };
  return `${JSON.stringify(completion, null, 2)}\n`;
}

/** Writes chunks one after the other, with all that is the same in each. */
class ChunkWriter {
  readonly frames: Frame[] = [];
  readonly #answer: ChatAnswer;
  readonly #envelope: JsonObject;

  constructor(answer: ChatAnswer) {
    this.#answer = answer;
    this.#envelope = {
      ...answer.envelope("chat.completion.chunk"),
      service_tier: "default",
      system_fingerprint: "fp_simulator",
    };
  }

  #push(fields: JsonObject, content: boolean, tokens: number): void {
    const { options, plan } = this.#answer;
    const label = `obfuscation ${this.frames.length}`;
    const noise = plan.seed.token(label, 1 + plan.seed.number(label, 16));
    const chunk = { ...this.#envelope, ...fields, ...(options.obfuscate ? { obfuscation: noise } : {}) };
    this.frames.push({ text: `data: ${JSON.stringify(chunk)}\n\n`, content, tokens });
  }

  delta(delta: JsonObject, rest: { finish?: string; logprobs?: JsonObject | null; tokens?: number } = {}): void {
    const choice: JsonObject = { index: 0, delta, logprobs: rest.logprobs ?? null, finish_reason: rest.finish ?? null };
    const usage: JsonObject = this.#answer.options.includeUsage ? { usage: null } : {};
    this.#push({ choices: [choice], ...usage }, rest.tokens !== undefined, rest.tokens ?? 0);
  }

  usage(usage: JsonObject): void {
    this.#push({ choices: [], usage }, false, 0);
  }

  done(): void {
    this.frames.push({ text: "data: [DONE]\n\n", content: false, tokens: 0 });
  }
}

function writeText(writer: ChunkWriter, answer: ChatAnswer): void {
  const { text, plan, options, refused } = answer;
  let from = 0;
  const tokensEach = plan.usage.output > HUGE_TOKENS ? TOKENS_PER_LARGE_FRAGMENT : 1;
  for (const fragment of fragments(text, tokensEach)) {
    const logprobs = logprobsOf(fragment.text, plan, options.topLogprobs, from);
    from += fragment.tokens;
    writer.delta(refused ? { refusal: fragment.text } : { content: fragment.text }, {
      logprobs,
      tokens: fragment.tokens,
    });
  }
  const annotations = annotationsOf(answer.spans);
  if (annotations.length > 0) writer.delta({ annotations });
}

/** The transcript precedes its audio. */
function writeSpoken(writer: ChunkWriter, spoken: SpokenAnswer): void {
  for (const fragment of fragments(spoken.text, 4)) {
    writer.delta({ audio: { id: spoken.id, transcript: fragment.text } }, { tokens: fragment.tokens });
  }
  for (const data of spoken.parts()) writer.delta({ audio: { id: spoken.id, data } }, { tokens: 1 });
  writer.delta({ audio: { id: spoken.id, expires_at: spoken.expiresAt } });
}

function writeCall(writer: ChunkWriter, answer: ChatAnswer, call: Segment & { type: "call" }): void {
  const index = answer.model.traits.quirk === "parallel-same-index" ? 0 : call.ordinal;
  const id = answer.callId(call.ordinal);
  const type = call.freeform ? "custom" : "function";
  const member = call.freeform ? "input" : "arguments";
  writer.delta({ tool_calls: [{ index, id, type, [type]: { name: call.name, [member]: "" } }] }, { tokens: 1 });
  for (const fragment of fragments(argumentsOf(call), 2)) {
    writer.delta({ tool_calls: [{ index, [type]: { [member]: fragment.text } }] }, { tokens: fragment.tokens });
  }
}

function firstDelta(answer: ChatAnswer): JsonObject {
  if (answer.refused) return { role: "assistant", content: null, refusal: "" };
  if (answer.thinking !== "") return { role: "assistant", content: null, reasoning_content: "" };
  return { role: "assistant", content: answer.calls.length > 0 ? null : "", refusal: null };
}

function renderFrames(answer: ChatAnswer): Frame[] {
  const writer = new ChunkWriter(answer);
  writer.delta(firstDelta(answer));
  for (const fragment of fragments(answer.thinking, 1))
    writer.delta({ reasoning_content: fragment.text }, { tokens: fragment.tokens });
  if (answer.spoken === undefined) writeText(writer, answer);
  else writeSpoken(writer, answer.spoken);
  for (const call of answer.calls) writeCall(writer, answer, call);
  writer.delta({}, { finish: FINISH[answer.plan.stop] });
  const { usage } = answer;
  if (answer.options.includeUsage && usage !== undefined) writer.usage(usage);
  if (answer.model.traits.quirk !== "no-done") writer.done();
  return writer.frames;
}

export function renderChat(plan: Plan, model: SimulatedModel, options: RenderOptions, nowMs: number): Rendered {
  if (plan.stop === "blocked") {
    throw invalid("Simulated: your prompt was flagged and not processed.", null, "invalid_prompt");
  }
  const answer = new ChatAnswer(plan, model, options, Math.floor(nowMs / 1_000));
  return {
    headers: {
      "openai-version": "2020-10-01",
      "openai-processing-ms": "1",
      "x-ratelimit-limit-requests": "10000",
      "x-ratelimit-remaining-requests": "9999",
      "x-ratelimit-reset-requests": "6ms",
    },
    whole: () => renderWhole(answer),
    frames: () => renderFrames(answer),
    frameType: "text/event-stream; charset=utf-8",
    errorFrame: () => `data: ${JSON.stringify(JSON.parse(openaiFailure("500", "").body))}\n\n`,
    garbageFrame: 'data: {"id":"chatcmpl-broken","object":"chat.completion.chunk","choices":[{"index":0,"del\n\n',
  };
}
