import type { JsonObject } from "../../../json.ts";
import type { Frame, Rendered, SimulatedModel } from "../../../text/adapter.ts";
import { type Plan, type Segment, type Span, textOfSpans } from "../../../text/plan.ts";
import { sign } from "../../../text/signature.ts";
import { countTokens, fragments } from "../../../text/tokens.ts";
import { invalid } from "../text/errors.ts";
import { THOUGHT_PURPOSE } from "./read-steps.ts";

const STATUS = {
  end: "completed",
  sequence: "completed",
  tool: "requires_action",
  length: "incomplete",
  refusal: "incomplete",
  blocked: "failed",
} as const;

const HUGE_TOKENS = 20_000;
const TOKENS_PER_FRAGMENT = 8;
const TOKENS_PER_LARGE_FRAGMENT = 4_000;

/** A step, as it is announced and as its deltas complete it. */
interface PlannedStep {
  shell: JsonObject;
  deltas: { delta: JsonObject; tokens: number }[];
  whole: JsonObject;
}

/** Offsets are counted in bytes of the text's UTF-8. */
function annotationsOf(spans: readonly Span[]): JsonObject[] {
  let at = 0;
  return spans.flatMap((span) => {
    const start_index = at;
    at += Buffer.byteLength(span.text);
    if (span.source === undefined) return [];
    const { url, title } = span.source;
    return [{ start_index, end_index: at, url, title, type: "url_citation" }];
  });
}

class InteractionAnswer {
  readonly #plan: Plan;
  readonly #showThoughts: boolean;
  readonly #tokensEach: number;

  constructor(plan: Plan, showThoughts: boolean) {
    this.#plan = plan;
    this.#showThoughts = showThoughts;
    this.#tokensEach = plan.usage.output > HUGE_TOKENS ? TOKENS_PER_LARGE_FRAGMENT : TOKENS_PER_FRAGMENT;
  }

  /** Thoughts come first, and searches after the text that they grounded. */
  steps(): PlannedStep[] {
    const { segments, stop } = this.#plan;
    const of = <Type extends Segment["type"]>(type: Type) =>
      segments.filter((segment): segment is Segment & { type: Type } => segment.type === type);
    const spans = stop === "refusal" ? [] : of("text").flatMap((segment) => segment.spans);
    return [
      ...of("thinking").map(({ text }) => this.#thought(text)),
      ...(spans.length === 0 ? [] : [this.#output(spans)]),
      ...of("call").map((call) => this.#call(call)),
      ...of("search").flatMap((search) => this.#search(search)),
    ];
  }

  #thought(text: string): PlannedStep {
    const signature = sign(THOUGHT_PURPOSE, "", this.#plan.seed);
    const shown = this.#showThoughts ? text : "";
    const deltas = fragments(shown, 3 * TOKENS_PER_FRAGMENT).map((fragment) => ({
      delta: { content: { text: fragment.text, type: "text" }, type: "thought_summary" },
      tokens: 0,
    }));
    return {
      shell: { type: "thought" },
      deltas: [...deltas, { delta: { signature, type: "thought_signature" }, tokens: 0 }],
      whole: { ...(shown === "" ? {} : { summary: [{ text: shown, type: "text" }] }), signature, type: "thought" },
    };
  }

  #output(spans: readonly Span[]): PlannedStep {
    const text = textOfSpans(spans);
    const annotations = annotationsOf(spans);
    const deltas: PlannedStep["deltas"] = fragments(text, this.#tokensEach).map((fragment) => ({
      delta: { text: fragment.text, type: "text" },
      tokens: fragment.tokens,
    }));
    if (annotations.length > 0) deltas.push({ delta: { annotations, type: "text_annotation_delta" }, tokens: 0 });
    const content = { text, ...(annotations.length === 0 ? {} : { annotations }), type: "text" };
    return { shell: { type: "model_output" }, deltas, whole: { content: [content], type: "model_output" } };
  }

  #call({ ordinal, name, input }: Segment & { type: "call" }): PlannedStep {
    const id = this.#plan.seed.token(`call ${ordinal}`, 8).toLowerCase();
    const text = JSON.stringify(input);
    const step = { id, signature: "", type: "function_call", name };
    return {
      shell: { ...step, arguments: {} },
      deltas: [{ delta: { arguments: text, type: "arguments_delta" }, tokens: countTokens(`${name} ${text}`) }],
      whole: { ...step, arguments: input },
    };
  }

  #search({ query }: Segment & { type: "search" }): PlannedStep[] {
    const id = this.#plan.seed.token("search", 8).toLowerCase();
    const call = { id, signature: "", type: "google_search_call" };
    const found = { call_id: id, signature: "", type: "google_search_result" };
    const asked = { arguments: { queries: [query] } };
    const result = { result: [{ search_suggestions: "<div>Simulated search</div>" }] };
    return [
      {
        shell: call,
        deltas: [{ delta: { type: "google_search_call", ...asked }, tokens: 0 }],
        whole: { ...call, ...asked },
      },
      {
        shell: found,
        deltas: [{ delta: { type: "google_search_result", ...result }, tokens: 0 }],
        whole: { ...found, ...result },
      },
    ];
  }
}

function usageOf({ usage }: Plan): JsonObject {
  return {
    total_tokens: usage.input + usage.output + usage.reasoning + usage.searchInput,
    total_input_tokens: usage.input,
    input_tokens_by_modality: [...usage.byModality].flatMap(([modality, tokens]) =>
      tokens > 0 ? [{ modality: modality.toLowerCase(), tokens }] : [],
    ),
    total_cached_tokens: usage.cacheRead,
    total_output_tokens: usage.output,
    total_tool_use_tokens: usage.searchInput,
    total_thought_tokens: usage.reasoning,
    ...(usage.searches > 0 ? { grounding_tool_count: [{ type: "google_search", count: usage.searches }] } : {}),
  };
}

const eventText = (name: string, members: JsonObject): string =>
  `event: ${name}\ndata: ${JSON.stringify({ ...members, event_type: name })}\n\n`;

const FAILURE: JsonObject = { message: "Simulated: the model is overloaded.", code: "unavailable" };

export function renderInteraction(
  plan: Plan,
  model: SimulatedModel,
  { showThoughts }: { showThoughts: boolean },
  nowMs: number,
): Rendered {
  if (plan.stop === "blocked") throw invalid("Simulated: the prompt was blocked.");
  const answer = new InteractionAnswer(plan, showThoughts);
  const time = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const named = { object: "interaction", model: model.facts.name };
  // The host stores nothing, so the interaction has no id.
  const begun = { id: "", status: "in_progress", ...named };
  const blocked = [{ code: "safety", message: "Simulated: the response was blocked." }];
  const ended = {
    id: "",
    status: STATUS[plan.stop],
    ...(plan.stop === "refusal" ? { errors: blocked } : {}),
    ...(model.traits.quirk === "no-usage" ? {} : { usage: usageOf(plan) }),
    created: time,
    updated: time,
    service_tier: "standard",
    ...named,
  };
  const frame = (name: string, members: JsonObject, tokens?: number): Frame => ({
    text: eventText(name, members),
    content: tokens !== undefined,
    tokens: tokens ?? 0,
  });
  return {
    headers: {},
    whole: () => `${JSON.stringify({ ...ended, steps: answer.steps().map(({ whole }) => whole) }, null, 2)}\n`,
    frames: () => [
      frame("interaction.created", { interaction: begun }),
      frame("interaction.status_update", { interaction_id: "", status: "in_progress" }),
      ...answer
        .steps()
        .flatMap(({ shell, deltas }, index) => [
          frame("step.start", { index, step: shell }),
          ...deltas.map(({ delta, tokens }) => frame("step.delta", { index, delta }, tokens)),
          frame("step.stop", { index }),
        ]),
      frame("interaction.completed", { interaction: ended }),
      { text: "event: done\ndata: [DONE]\n\n", content: false, tokens: 0 },
    ],
    frameType: "text/event-stream",
    errorFrame: () => eventText("error", { error: FAILURE }),
    garbageFrame: 'event: step.delta\ndata: {"index":0,"del\n\n',
  };
}
