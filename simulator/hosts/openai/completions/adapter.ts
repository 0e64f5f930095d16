import type { JsonObject } from "../../../json.ts";
import {
  emptyPrompt,
  type Frame,
  type Rendered,
  type SimulatedModel,
  type TextAdapter,
} from "../../../text/adapter.ts";
import { type Plan, textOfSpans } from "../../../text/plan.ts";
import { fragments } from "../../../text/tokens.ts";
import { bodyOf } from "../text/adapter.ts";
import { contextTooLong, modelNotFound, openaiFailure } from "../text/errors.ts";
import { FINISH, usageOf } from "../text/render.ts";
import { type CompletionRequest, readCompletion } from "./read-request.ts";

/** OpenAI's completions, the predecessor of chat. */
export function completionsAdapter(nowMs: () => number): TextAdapter {
  return {
    family: "openai",
    cachesMarkedOnly: false,
    read(call, model) {
      const { prompt, stream, ...options } = readCompletion(bodyOf(call));
      return { prompt, stream, render: (plan) => render(plan, model, options, nowMs()) };
    },
    readUnchecked: (call, model) => ({
      prompt: emptyPrompt(),
      stream: bodyOf(call).stream === true,
      render: (plan) => render(plan, model, { includeUsage: true, echo: "" }, nowMs()),
    }),
    notFound: (call) => modelNotFound(call.modelName),
    tooLong: contextTooLong,
    failure: openaiFailure,
  };
}

type Options = Pick<CompletionRequest, "includeUsage" | "echo">;

function render(plan: Plan, model: SimulatedModel, { includeUsage, echo }: Options, nowMs: number): Rendered {
  const said = textOfSpans(plan.segments.flatMap((segment) => (segment.type === "text" ? segment.spans : [])));
  const text = echo + said;
  const envelope = {
    id: `cmpl-${plan.seed.token("completion id", 29)}`,
    object: "text_completion",
    created: Math.floor(nowMs / 1_000),
    model: `${model.facts.name}-2026-10-01`,
  };
  const usage: JsonObject = model.traits.quirk === "no-usage" ? {} : { usage: usageOf(plan) };
  const choice = (part: string, finish: string | null): JsonObject => ({
    text: part,
    index: 0,
    logprobs: null,
    finish_reason: finish,
  });
  const frame = (fields: JsonObject, tokens: number): Frame => ({
    text: `data: ${JSON.stringify({ ...envelope, ...fields })}\n\n`,
    content: tokens > 0,
    tokens,
  });
  const whole = (): JsonObject => ({ ...envelope, choices: [choice(text, FINISH[plan.stop])], ...usage });
  const frames = (): Frame[] => [
    ...fragments(text, 1).map((part) => frame({ choices: [choice(part.text, null)] }, part.tokens)),
    frame({ choices: [choice("", FINISH[plan.stop])] }, 0),
    ...(includeUsage && usage.usage !== undefined ? [frame({ choices: [], ...usage }, 0)] : []),
    { text: "data: [DONE]\n\n", content: false, tokens: 0 },
  ];
  return {
    headers: {},
    whole: () => `${JSON.stringify(whole(), null, 2)}\n`,
    frames,
    frameType: "text/event-stream; charset=utf-8",
    errorFrame: () => `data: ${JSON.stringify(JSON.parse(openaiFailure("500", "").body))}\n\n`,
    garbageFrame: 'data: {"id":"cmpl-broken","object":"text_completion","choices":[{"ind\n\n',
  };
}
