import { wavHead } from "../src/wire/wav-head.ts";
import type { ServicePlan } from "./scenario.ts";
import { SERVICE_MODELS } from "./service-configuration.ts";
import { wordOf, wordsOf } from "./speech.ts";

/** A host's response to one request. */
export interface HostAnswer {
  type: string;
  /** In as many parts as are sent; one if it is read whole. */
  parts: readonly (string | Uint8Array)[];
  /** It is sent while it is made. */
  isStream: boolean;
  /** The reported usage, by ledger column; undefined if there is none. */
  usage: Readonly<Record<string, number>> | undefined;
}

/** Characters per token, as the hosts count. */
const CHARACTERS_PER_TOKEN = 4;
/** Documents per search. */
const DOCUMENTS_PER_SEARCH = 100;
const BYTES_PER_SECOND = 16_000;

/** No id exceeds what 32-bit floats can represent. */
export const vectorOf = (id: number, index: number): number[] => [id % 1_000_003, index, 0.5];
export const scoreOf = (id: number, index: number): number => ((index * 37 + id) % 1_000) / 1_000;

export const inputOf = ({ id }: ServicePlan, index: number): string => `call-${id}- text ${index}.`;
/** The text that is spoken, heard or written. */
export const textOf = ({ id, size }: ServicePlan): string => wordsOf({ id, padding: 0 }, 0, size);

const tokensOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Math.ceil(text.length / CHARACTERS_PER_TOKEN), 0);

/** A recording: one second per word. */
export function recordingOf({ size }: ServicePlan): Uint8Array {
  const samples = size * BYTES_PER_SECOND;
  return Buffer.concat([wavHead(samples, BYTES_PER_SECOND / 2), new Uint8Array(samples)]);
}

const json = (value: object, usage: HostAnswer["usage"]): HostAnswer => ({
  type: "application/json",
  parts: [JSON.stringify(value)],
  isStream: false,
  usage,
});
const events = (values: readonly (object | string)[], usage: HostAnswer["usage"]): HostAnswer => ({
  type: "text/event-stream",
  parts: values.map((value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`),
  isStream: true,
  usage,
});

/** The provider's response to the request, in its own form of the service. `tells`: it reports usage. */
export function answerOf(plan: ServicePlan, provider: string, body: string, tells: boolean): HostAnswer {
  switch (plan.service) {
    case "embeddings":
      return embed(plan, provider, body, tells);
    case "rerank":
      return rank(plan, provider, body, tells);
    case "speech":
      return {
        type: "audio/mpeg",
        parts: Array.from({ length: plan.size }, (_, index) => Buffer.from(wordOf({ id: plan.id, padding: 0 }, index))),
        isStream: true,
        usage: { usage_characters: inputOf(plan, plan.size).length },
      };
    case "transcriptions":
      return transcribe(plan, body, tells);
    case "completions":
      return complete(plan, body, tells);
    case "moderations":
      return json({ id: "modr-1", model: "m", results: [{ flagged: plan.id % 2 === 0, categories: {} }] }, {});
  }
}

function embed({ id }: ServicePlan, provider: string, body: string, tells: boolean): HostAnswer {
  const asked = JSON.parse(body) as { texts?: string[]; input?: string[]; encoding_format?: string };
  const texts = asked.texts ?? asked.input ?? [];
  const vectors = texts.map((text) => vectorOf(id, Number(/text (\d+)/.exec(text)?.[1])));
  const tokens = tokensOf(texts);
  const usage = tells ? { usage_input: tokens } : undefined;
  if (provider === "iota") {
    const meta = tells ? { billed_units: { input_tokens: tokens } } : {};
    return json({ id: "e", embeddings: { float: vectors }, meta }, usage);
  }
  const form = (vector: number[]) =>
    asked.encoding_format === "base64" ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector;
  const data = vectors.map((vector, index) => ({ object: "embedding", index, embedding: form(vector) }));
  // Only the index gives the order.
  if (id % 3 === 0) data.reverse();
  return json(
    { object: "list", data, model: "m", ...(tells && { usage: { prompt_tokens: tokens, total_tokens: tokens } }) },
    usage,
  );
}

function rank({ id }: ServicePlan, provider: string, body: string, tells: boolean): HostAnswer {
  const { documents, query } = JSON.parse(body) as { documents: string[]; query: string };
  const results = documents
    .map((text, index) => ({ index, relevance_score: scoreOf(id, Number(/text (\d+)/.exec(text)?.[1])) }))
    .sort((one, other) => other.relevance_score - one.relevance_score);
  if (provider === "iota") {
    const searches = Math.ceil(documents.length / DOCUMENTS_PER_SEARCH);
    const meta = tells ? { billed_units: { search_units: searches } } : {};
    return json({ id: "r", results, meta }, tells ? { usage_searches: searches } : undefined);
  }
  const tokens = tokensOf([query, ...documents]);
  return json(
    { results, ...(tells && { usage: { total_tokens: tokens } }) },
    tells ? { usage_input: tokens } : undefined,
  );
}

function transcribe(plan: ServicePlan, body: string, tells: boolean): HostAnswer {
  const text = textOf(plan);
  const said = tells ? { usage: { type: "duration", seconds: plan.size } } : {};
  const usage = tells ? { usage_seconds: plan.size } : undefined;
  if (!/name="stream"\r\n\r\ntrue/.test(body)) return json({ text, ...said }, usage);
  const deltas = Array.from({ length: plan.size }, (_, index) => ({
    type: "transcript.text.delta",
    delta: wordOf({ id: plan.id, padding: 0 }, index),
  }));
  return events([...deltas, { type: "transcript.text.done", text, ...said }], usage);
}

function complete(plan: ServicePlan, body: string, tells: boolean): HostAnswer {
  const { stream, prompt } = JSON.parse(body) as { stream?: boolean; prompt: string };
  const [input, output] = [tokensOf([prompt]), plan.size * 3];
  const counts = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const said = tells ? { usage: counts } : {};
  const usage = tells ? { usage_input: input, usage_output: output } : undefined;
  const head = { id: "cmpl-1", object: "text_completion", created: 1, model: "m" };
  const choice = (text: string, finish_reason: string | null) => ({ index: 0, text, finish_reason, logprobs: null });
  if (!stream) return json({ ...head, choices: [choice(textOf(plan), "stop")], ...said }, usage);
  const words = Array.from({ length: plan.size }, (_, index) => ({
    ...head,
    choices: [choice(wordOf({ id: plan.id, padding: 0 }, index), null)],
  }));
  const last = { ...head, choices: [choice("", "stop")] };
  return events([...words, last, ...(tells ? [{ ...head, choices: [], ...said }] : []), "[DONE]"], usage);
}

/** The providers that may serve a call, in order. */
export const serviceOffers = ({ service }: ServicePlan): string[] =>
  SERVICE_MODELS[service].offers.map(({ provider }) => provider);
