import type { JsonObject } from "../../../json.ts";
import type { Frame, Rendered, SimulatedModel } from "../../../text/adapter.ts";
import type { Plan } from "../../../text/plan.ts";
import { fragments } from "../../../text/tokens.ts";
import { invalid } from "../text/errors.ts";
import { type Item, itemsOf } from "./items.ts";
import type { ResponsesRequest } from "./read-request.ts";

export type RenderOptions = Omit<ResponsesRequest, "prompt" | "stream">;

/** The fragments of a huge answer are large, or it would be half a million frames. */
const HUGE_TOKENS = 20_000;
const TOKENS_PER_LARGE_FRAGMENT = 4_000;

function usageOf(plan: Plan): JsonObject {
  const { usage } = plan;
  const input = usage.input + usage.searchInput;
  const output = usage.output + usage.reasoning;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  };
}

class Answer {
  readonly items: Item[];
  readonly #plan: Plan;
  readonly #shell: JsonObject;
  readonly #usage: JsonObject | null;

  constructor(plan: Plan, model: SimulatedModel, { echo, ...options }: RenderOptions, createdSeconds: number) {
    this.#plan = plan;
    this.items = itemsOf(plan, options);
    this.#usage = model.traits.quirk === "no-usage" ? null : usageOf(plan);
    this.#shell = {
      id: `resp_${plan.seed.token("response id", 32)}`,
      object: "response",
      created_at: createdSeconds,
      background: false,
      error: null,
      incomplete_details: null,
      ...echo,
      model: `${model.facts.name}-2026-10-01`,
    };
  }

  begun(): JsonObject {
    return { ...this.#shell, status: "in_progress", output: [], usage: null };
  }

  ended(): JsonObject {
    const cut = this.#plan.stop === "length";
    return {
      ...this.#shell,
      status: cut ? "incomplete" : "completed",
      incomplete_details: cut ? { reason: "max_output_tokens" } : null,
      output: this.items.map(({ done }) => done),
      usage: this.#usage,
    };
  }

  failed(): JsonObject {
    return { ...this.#shell, status: "failed", output: [], usage: null, error: FAILURE };
  }
}

const FAILURE: JsonObject = {
  code: "server_error",
  message: "Simulated: the server had an error while processing your request.",
};

/** Writes named and numbered events. */
class EventWriter {
  readonly frames: Frame[] = [];
  readonly #plan: Plan;
  readonly #obfuscate: boolean;

  constructor(plan: Plan, obfuscate: boolean) {
    this.#plan = plan;
    this.#obfuscate = obfuscate;
  }

  event(type: string, fields: JsonObject, tokens?: number): void {
    const number = this.frames.length;
    const text = eventText(type, { ...fields, sequence_number: number });
    this.frames.push({ text, content: tokens !== undefined, tokens: tokens ?? 0 });
  }

  /** Pads what it says, so that the lengths of its events tell nothing. */
  delta(type: string, fields: JsonObject, tokens: number): void {
    const label = `obfuscation ${this.frames.length}`;
    const noise = this.#plan.seed.token(label, 1 + this.#plan.seed.number(label, 16));
    this.event(type, this.#obfuscate ? { ...fields, obfuscation: noise } : fields, tokens);
  }
}

const eventText = (type: string, fields: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

function renderFrames(answer: Answer, plan: Plan, options: RenderOptions): Frame[] {
  const writer = new EventWriter(plan, options.obfuscate);
  writer.event("response.created", { response: answer.begun() });
  writer.event("response.in_progress", { response: answer.begun() });
  for (const [at, item] of answer.items.entries()) {
    writer.event("response.output_item.added", { output_index: at, item: shellOf(item) });
    writeItem(writer, item, { item_id: String(item.done.id), output_index: at }, plan);
    writer.event("response.output_item.done", { output_index: at, item: item.done });
  }
  const ended = answer.ended();
  writer.event(`response.${String(ended.status)}`, { response: ended });
  return writer.frames;
}

/** An item as it is announced. */
function shellOf(item: Item): JsonObject {
  switch (item.kind) {
    case "reasoning":
      return { ...item.done, summary: [] };
    case "message":
      return { ...item.done, status: "in_progress", content: [] };
    case "call":
      return { ...item.done, status: "in_progress", [item.member]: "" };
    case "search":
      return { id: item.done.id ?? "", type: "web_search_call", status: "in_progress" };
  }
}

function writeItem(writer: EventWriter, item: Item, where: JsonObject, plan: Plan): void {
  const tokensEach = plan.usage.output > HUGE_TOKENS ? TOKENS_PER_LARGE_FRAGMENT : 1;
  switch (item.kind) {
    case "reasoning":
      if (item.text !== "") writeSummary(writer, item.text, where);
      break;
    case "message":
      writeMessage(writer, item, where, tokensEach);
      break;
    case "call": {
      const type = item.member === "input" ? "response.custom_tool_call_input" : "response.function_call_arguments";
      for (const { text, tokens } of fragments(item.text, 2)) {
        writer.delta(`${type}.delta`, { ...where, delta: text }, tokens);
      }
      writer.event(`${type}.done`, { ...where, [item.member]: item.text });
      break;
    }
    case "search":
      for (const state of ["in_progress", "searching", "completed"]) {
        writer.event(`response.web_search_call.${state}`, where);
      }
  }
}

function writeSummary(writer: EventWriter, text: string, item: JsonObject): void {
  const where = { ...item, summary_index: 0 };
  writer.event("response.reasoning_summary_part.added", { ...where, part: { type: "summary_text", text: "" } });
  for (const fragment of fragments(text, 1)) {
    writer.delta("response.reasoning_summary_text.delta", { ...where, delta: fragment.text }, fragment.tokens);
  }
  writer.event("response.reasoning_summary_text.done", { ...where, text });
  writer.event("response.reasoning_summary_part.done", { ...where, part: { type: "summary_text", text } });
}

function writeMessage(
  writer: EventWriter,
  { done, text, refusal, annotations }: Item & { kind: "message" },
  item: JsonObject,
  tokensEach: number,
): void {
  const where = { ...item, content_index: 0 };
  const [part = {}] = done.content as JsonObject[];
  const empty: JsonObject = refusal ? { type: "refusal", refusal: "" } : { ...part, text: "", annotations: [] };
  const type = refusal ? "response.refusal" : "response.output_text";
  writer.event("response.content_part.added", { ...where, part: empty });
  for (const fragment of fragments(text, tokensEach)) {
    const rest: JsonObject = refusal ? {} : { logprobs: [] };
    writer.delta(`${type}.delta`, { ...where, delta: fragment.text, ...rest }, fragment.tokens);
  }
  for (const [at, annotation] of annotations.entries()) {
    writer.event("response.output_text.annotation.added", { ...where, annotation_index: at, annotation });
  }
  writer.event(`${type}.done`, refusal ? { ...where, refusal: text } : { ...where, text, logprobs: [] });
  writer.event("response.content_part.done", { ...where, part });
}

export function renderResponses(plan: Plan, model: SimulatedModel, options: RenderOptions, nowMs: number): Rendered {
  if (plan.stop === "blocked") {
    throw invalid("Simulated: your prompt was flagged and not processed.", null, "invalid_prompt");
  }
  const answer = new Answer(plan, model, options, Math.floor(nowMs / 1_000));
  return {
    headers: { "openai-version": "2020-10-01", "openai-processing-ms": "1" },
    whole: () => `${JSON.stringify(answer.ended(), null, 2)}\n`,
    frames: () => renderFrames(answer, plan, options),
    frameType: "text/event-stream; charset=utf-8",
    // The host reports a failure twice: as an error, and as the end of the response.
    errorFrame: () =>
      eventText("error", { error: { type: "server_error", param: null, ...FAILURE }, sequence_number: 0 }) +
      eventText("response.failed", { response: answer.failed(), sequence_number: 1 }),
    garbageFrame: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","del\n\n',
  };
}
