import type { JsonObject } from "../../../json.ts";
import type { Frame, Rendered, SimulatedModel } from "../../../text/adapter.ts";
import { tokenLogprobs } from "../../../text/logprobs.ts";
import { type Plan, type Segment, type Span, textOfSpans } from "../../../text/plan.ts";
import { sign } from "../../../text/signature.ts";
import { countTokens, fragments } from "../../../text/tokens.ts";
import { type GoogleHost, googleFailure } from "./errors.ts";
import { frameText } from "./framing.ts";
import { groundingMetadata } from "./grounding.ts";
import { partialArguments } from "./partial-arguments.ts";
import { CALL_PURPOSE, callPayload, TEXT_PURPOSE } from "./read-contents.ts";
import { usageMetadata } from "./usage.ts";

export interface RenderOptions {
  host: GoogleHost;
  showThoughts: boolean;
  streamArguments: boolean;
  topLogprobs: number | undefined;
  /** Server-sent events, or else one JSON array that grows. */
  events: boolean;
}

const FINISH = {
  end: "STOP",
  sequence: "STOP",
  tool: "STOP",
  length: "MAX_TOKENS",
  refusal: "SAFETY",
  blocked: "PROHIBITED_CONTENT",
} as const;

const HUGE_TOKENS = 20_000;
const TOKENS_PER_FRAGMENT = 8;
const TOKENS_PER_LARGE_FRAGMENT = 4_000;

function safetyRatings(blocked: boolean): JsonObject[] {
  const categories = ["HATE_SPEECH", "DANGEROUS_CONTENT", "HARASSMENT", "SEXUALLY_EXPLICIT"];
  return categories.map((name, at) => ({
    category: `HARM_CATEGORY_${name}`,
    probability: at === 0 ? "HIGH" : "NEGLIGIBLE",
    ...(blocked && at === 0 ? { blocked: true } : {}),
  }));
}

/** One chunk of the answer before it is written: some parts, and what they cost. */
interface Chunk {
  parts: JsonObject[];
  tokens: number;
  logprobs?: JsonObject;
  /** Vertex sends next to no usage with partial arguments. */
  bare?: boolean;
}

class GoogleAnswer {
  readonly spans: Span[];
  readonly text: string;
  readonly calls: (Segment & { type: "call" })[];
  readonly search: (Segment & { type: "search" }) | undefined;
  readonly signs: boolean;

  constructor(
    readonly plan: Plan,
    readonly model: SimulatedModel,
    readonly options: RenderOptions,
    readonly nowMs: number,
  ) {
    const { segments } = plan;
    this.spans =
      plan.stop === "refusal" ? [] : segments.flatMap((segment) => (segment.type === "text" ? segment.spans : []));
    this.text = textOfSpans(this.spans);
    this.calls = segments.filter((segment) => segment.type === "call");
    this.search = segments.find((segment) => segment.type === "search");
    this.signs = segments.some((segment) => segment.type === "thinking");
  }

  get thoughts(): JsonObject[] {
    if (!this.options.showThoughts) return [];
    return this.plan.segments.flatMap((segment) =>
      segment.type === "thinking" ? [{ text: segment.text, thought: true }] : [],
    );
  }

  /** Of parallel calls only the first carries a signature. */
  callSignature(call: Segment & { type: "call" }): JsonObject {
    if (!this.signs || call.ordinal > 0) return {};
    return { thoughtSignature: sign(CALL_PURPOSE, callPayload(call.name, call.input), this.plan.seed) };
  }

  get textSignature(): JsonObject {
    return this.signs ? { thoughtSignature: sign(TEXT_PURPOSE, "", this.plan.seed) } : {};
  }

  callPart(call: Segment & { type: "call" }): JsonObject {
    const id = this.plan.seed.token(`call ${call.ordinal}`, 8).toLowerCase();
    const named = { name: call.name, args: call.input };
    return {
      functionCall: this.options.host === "gemini" ? { ...named, id } : named,
      ...this.callSignature(call),
    };
  }

  logprobs(text: string, from: number): JsonObject | undefined {
    const top = this.options.topLogprobs;
    if (top === undefined) return undefined;
    const tokens = tokenLogprobs(text, this.plan.seed, top, from);
    const entry = ({ token, logprob }: { token: string; logprob: number }): JsonObject => ({
      token,
      tokenId: 1 + this.plan.seed.number(`token ${token}`, 250_000),
      logProbability: logprob,
    });
    return {
      topCandidates: tokens.map((one) => ({ candidates: one.top.map(entry) })),
      chosenCandidates: tokens.map(entry),
    };
  }

  get averageLogprob(): number {
    const tokens = tokenLogprobs(this.text, this.plan.seed, 0, 0);
    return tokens.reduce((sum, one) => sum + one.logprob, 0) / Math.max(1, tokens.length);
  }

  /** Everything around the candidates, in the order of the host. */
  response(candidates: JsonObject[], usage: JsonObject): JsonObject {
    const { host } = this.options;
    const identity = { modelVersion: this.model.facts.name, responseId: this.plan.seed.token("response id", 23) };
    const shown: JsonObject = this.model.traits.quirk === "no-usage" ? {} : { usageMetadata: usage };
    if (this.plan.stop === "blocked") {
      const message: JsonObject = host === "vertex" ? { blockReasonMessage: "Simulated: the prompt was blocked." } : {};
      const promptFeedback = { blockReason: "PROHIBITED_CONTENT", safetyRatings: safetyRatings(false), ...message };
      return { promptFeedback, ...shown, ...identity };
    }
    if (host === "vertex") return { candidates, createTime: new Date(this.nowMs).toISOString(), ...identity, ...shown };
    return { candidates, ...shown, ...identity };
  }

  /** What the last word on a candidate adds to it. */
  get closing(): JsonObject {
    const { plan, search } = this;
    return {
      finishReason: FINISH[plan.stop],
      ...(plan.stop === "tool" && this.options.host === "gemini"
        ? { finishMessage: "Model generated function call(s)." }
        : {}),
      ...(plan.stop === "refusal" ? { safetyRatings: safetyRatings(true) } : {}),
      ...(search === undefined ? {} : { groundingMetadata: groundingMetadata(search, this.spans) }),
      ...(this.options.topLogprobs === undefined ? {} : { avgLogprobs: this.averageLogprob }),
    };
  }

  candidate(parts: JsonObject[], fields: JsonObject): JsonObject {
    const empty: JsonObject = this.plan.stop === "refusal" ? {} : { role: "model" };
    return { content: parts.length === 0 ? empty : { parts, role: "model" }, ...fields, index: 0 };
  }
}

function renderWhole(answer: GoogleAnswer): string {
  const { plan, options } = answer;
  const textParts = answer.text === "" ? [] : [{ text: answer.text, ...answer.textSignature }];
  const parts = [...answer.thoughts, ...textParts, ...answer.calls.map((call) => answer.callPart(call))];
  const logprobs = answer.logprobs(answer.text, 0);
  const fields = { ...answer.closing, ...(logprobs === undefined ? {} : { logprobsResult: logprobs }) };
  const usage = usageMetadata(plan, options.host, plan.usage.output);
  return `${JSON.stringify(answer.response([answer.candidate(parts, fields)], usage), null, 2)}\n`;
}

function callChunks(answer: GoogleAnswer, call: Segment & { type: "call" }): Chunk[] {
  const tokens = countTokens(`${call.name} ${JSON.stringify(call.input)}`);
  if (!answer.options.streamArguments) return [{ parts: [answer.callPart(call)], tokens }];
  const opening = { functionCall: { name: call.name, willContinue: true }, ...answer.callSignature(call) };
  const partial = partialArguments(call.input).map((argument) => ({
    functionCall: { partialArgs: [argument], willContinue: true },
  }));
  const steps: Chunk[] = [opening, ...partial, { functionCall: {} }].map((part) => ({
    parts: [part],
    tokens: 0,
    bare: true,
  }));
  const last = steps.at(-1);
  if (last !== undefined) last.tokens = tokens;
  return steps;
}

function chunksOf(answer: GoogleAnswer): Chunk[] {
  const chunks: Chunk[] = answer.thoughts.flatMap((part) =>
    fragments(String(part.text), 3 * TOKENS_PER_FRAGMENT).map(({ text }) => ({
      parts: [{ ...part, text }],
      tokens: 0,
    })),
  );
  const tokensEach = answer.plan.usage.output > HUGE_TOKENS ? TOKENS_PER_LARGE_FRAGMENT : TOKENS_PER_FRAGMENT;
  let from = 0;
  for (const fragment of fragments(answer.text, tokensEach)) {
    const logprobs = answer.logprobs(fragment.text, from);
    from += fragment.tokens;
    chunks.push({
      parts: [{ text: fragment.text }],
      tokens: fragment.tokens,
      ...(logprobs === undefined ? {} : { logprobs }),
    });
  }
  for (const call of answer.calls) chunks.push(...callChunks(answer, call));
  // A model that thinks signs off with an empty part; after calls the signature has gone out with the first of them.
  if (answer.calls.length > 0 && !answer.options.streamArguments) chunks.push({ parts: [{ text: "" }], tokens: 0 });
  else if (answer.text !== "" && answer.signs)
    chunks.push({ parts: [{ text: "", ...answer.textSignature }], tokens: 0 });
  return chunks.length > 0 ? chunks : [{ parts: [], tokens: 0 }];
}

function renderFrames(answer: GoogleAnswer): Frame[] {
  const { plan, options } = answer;
  const chunks = chunksOf(answer);
  let sent = 0;
  const frames = chunks.map((chunk, at): Frame => {
    sent += chunk.tokens;
    const last = at === chunks.length - 1;
    const logprobs: JsonObject = chunk.logprobs === undefined ? {} : { logprobsResult: chunk.logprobs };
    const fields = { ...(last ? answer.closing : {}), ...logprobs };
    const usage =
      chunk.bare && !last
        ? { trafficType: "ON_DEMAND" }
        : usageMetadata(plan, options.host, last ? plan.usage.output : sent);
    const response = answer.response([answer.candidate(chunk.parts, fields)], usage);
    return {
      text: frameText(response, options.host, options.events, at === 0),
      content: !last || at === 0,
      tokens: chunk.tokens,
    };
  });
  return options.events ? frames : [...frames, { text: "]\n", content: false, tokens: 0 }];
}

export function renderGoogle(plan: Plan, model: SimulatedModel, options: RenderOptions, nowMs: number): Rendered {
  const answer = new GoogleAnswer(plan, model, options, nowMs);
  return {
    headers: {},
    whole: () => renderWhole(answer),
    frames: () => renderFrames(answer),
    frameType: options.events ? "text/event-stream" : "application/json; charset=UTF-8",
    errorFrame: (first) => {
      const error = JSON.parse(googleFailure("503", model.facts.name, options.host).body) as JsonObject;
      return `${frameText(error, options.host, options.events, first)}${options.events ? "" : "]\n"}`;
    },
    garbageFrame: options.events
      ? 'data: {"candidates": [{"content": {"par\r\n\r\n'
      : ',\n{"candidates": [{"content": {"par\n',
  };
}
