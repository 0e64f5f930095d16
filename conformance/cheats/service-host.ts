import type { ServerResponse } from "node:http";
import {
  type ScriptedUpstream,
  type SeenRequest,
  sendJson,
  startEvents,
  startScriptedUpstream,
} from "../support/scripted-upstream.ts";
import { DEAR_MODEL } from "./billing-host.ts";

/** What the host charges, in nano-dollars. */
export const SERVICE_PRICES = {
  promptToken: 1_000,
  outputToken: 2_000,
  soundToken: 10_000,
  character: 15_000,
  second: 100_000,
  search: 2_000_000,
} as const;
/** For a model that nobody was allowed to request. */
const DEAR = 100;

/** The host's behaviour. */
export interface ServicePerformance {
  /** Delay before the response. */
  workMs?: number;
  /** Between the parts of a stream. */
  everyMs?: number;
  /** The usage that it reports instead of the truth; "nothing": it reports none. */
  tells?: object | "nothing";
  /** Words of a completion, and the words it is made of. */
  words?: number;
  word?: string;
}

type Charge = (nanoUsd: number) => void;

/** One request, as the host reads it. */
interface Job {
  body: Record<string, unknown>;
  response: ServerResponse;
  performance: ServicePerformance;
  charge: Charge;
}

/** A host of services and of legacy completions that keeps accounts like `BillingHost`. */
export class ServiceHost {
  readonly upstream: ScriptedUpstream;
  readonly #books = new Map<string, { nanoUsd: number; requests: number }>();
  readonly #performances = new Map<string, ServicePerformance>();

  private constructor(upstream: ScriptedUpstream) {
    this.upstream = upstream;
    upstream.play((request, response) => this.#serve(request, response));
  }

  static async start(): Promise<ServiceHost> {
    return new ServiceHost(await startScriptedUpstream());
  }

  rehearse(purse: string, performance: ServicePerformance): void {
    this.#performances.set(purse, performance);
  }

  billed(purse: string): number {
    return this.#books.get(purse)?.nanoUsd ?? 0;
  }

  requests(purse: string): number {
    return this.#books.get(purse)?.requests ?? 0;
  }

  stop(): Promise<void> {
    return this.upstream.stop();
  }

  async #serve(request: SeenRequest, response: ServerResponse): Promise<void> {
    const purse = /purse-\d+/.exec(request.body)?.[0] ?? "";
    const performance = this.#performances.get(purse);
    if (performance === undefined) return void sendJson(response, { error: { message: "unknown" } }, 500);
    const book = this.#books.get(purse) ?? { nanoUsd: 0, requests: 0 };
    this.#books.set(purse, book);
    book.requests++;
    const body = request.path.includes("/audio/tr") ? formFields(request.body) : folded(JSON.parse(request.body));
    const models = JSON.stringify([body["model"], body["models"], body["models[]"], body["fallbacks"]]);
    const times = models.includes(DEAR_MODEL) ? DEAR : 1;
    const charge: Charge = (nanoUsd) => {
      book.nanoUsd += nanoUsd * times;
    };
    const job = { body, response, performance, charge };
    const [, serve] = SERVICES.find(([path]) => request.path.endsWith(path)) ?? [];
    if (serve === undefined) return void sendJson(response, { error: { message: "unknown" } }, 404);
    await serve(job);
  }
}

/** Names are read as hosts written in Go do: case-insensitively, the last one winning. */
const fold = (name: string) => name.toLowerCase().replaceAll("\u017f", "s").replaceAll("\u212a", "k");

function folded(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [fold(name), field]));
}

function formFields(text: string): Record<string, unknown> {
  const parts = text.matchAll(/name="([^"]*)"[^\r\n]*(?:\r\n[^\r\n]+)*\r\n\r\n([\s\S]*?)\r\n--/g);
  return folded(Object.fromEntries([...parts].map(([, name = "", value]) => [name, value])));
}

/** Four letters are a token, and so is each Chinese character; each number of a list is one. */
function tokensOf(value: unknown): number {
  if (typeof value === "number") return 1;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + tokensOf(item), 0);
  if (typeof value !== "string") return 0;
  const wide = value.match(/[\u3000-\u9fff]/g)?.length ?? 0;
  return wide + Math.ceil((value.length - wide) / 4);
}

const pause = async ({ response }: Job, ms: number | undefined) => {
  if (!ms) return;
  const closed = new Promise<void>((resolve) => void response.on("close", resolve));
  await Promise.race([Bun.sleep(ms), closed]);
};

const toldOr = ({ tells }: ServicePerformance, truth: object): { usage?: object } =>
  tells === "nothing" ? {} : { usage: tells ?? truth };

async function embeddings(job: Job): Promise<void> {
  const inputs = Array.isArray(job.body["input"]) ? (job.body["input"] as unknown[]) : [job.body["input"]];
  const tokens = tokensOf(inputs);
  job.charge(tokens * SERVICE_PRICES.promptToken);
  await pause(job, job.performance.workMs);
  const data = inputs.map((_, index) => ({ object: "embedding", index, embedding: [0.5, 0.5] }));
  sendJson(job.response, {
    object: "list",
    data,
    model: "m",
    ...toldOr(job.performance, { prompt_tokens: tokens, total_tokens: tokens }),
  });
}

async function rerank(job: Job): Promise<void> {
  const documents = job.body["documents"] as unknown[];
  const searches = Math.ceil(documents.length / 100);
  job.charge(searches * SERVICE_PRICES.search);
  await pause(job, job.performance.workMs);
  const results = documents.map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
  const truth = { billed_units: { search_units: searches } };
  const { usage } = toldOr(job.performance, truth);
  sendJson(job.response, { id: "r", results, meta: usage });
}

/** Charged by the text as requested; with tokens, by the audio as made. */
async function speech(job: Job): Promise<void> {
  const { body, response, performance, charge } = job;
  const input = String(body["input"]);
  const isByToken = String(body["model"]).includes("gpt");
  const inputTokens = tokensOf([input, body["instructions"]]);
  const soundTokens = Math.ceil([...input].length / 15) * 21;
  if (isByToken) charge(inputTokens * SERVICE_PRICES.promptToken);
  else charge([...input].length * SERVICE_PRICES.character);
  await pause(job, performance.workMs);
  if (response.destroyed) return;
  if (isByToken) startEvents(response);
  else response.writeHead(200, { "content-type": "audio/mpeg" }).flushHeaders();
  const parts = 20;
  for (let part = 0; part < parts; part++) {
    if (response.destroyed) return;
    if (isByToken) {
      charge(Math.floor(soundTokens / parts) * SERVICE_PRICES.soundToken);
      response.write(`data: ${JSON.stringify({ type: "speech.audio.delta", audio: "AAAAAAAA" })}\n\n`);
    } else response.write("sound-sound-sound");
    await pause(job, performance.everyMs);
  }
  const made = Math.floor(soundTokens / parts) * parts;
  const truth = { input_tokens: inputTokens, output_tokens: made, total_tokens: inputTokens + made };
  if (isByToken)
    response.write(`data: ${JSON.stringify({ type: "speech.audio.done", ...toldOr(performance, truth) })}\n\n`);
  response.end();
}

const MARK = "true-seconds-";

/**
 * Recordings here encode their length in their samples, as any decoder would find out: hosts do not trust the header.
 */
export const recordingOf = (seconds: number, purse: string): string => `${MARK}${seconds}-${purse}-`;

async function transcription(job: Job): Promise<void> {
  const { body, response, performance, charge } = job;
  const seconds = Number(new RegExp(`${MARK}(\\d+)`).exec(String(body["file"]))?.[1] ?? 0);
  const isByToken = String(body["model"]).includes("gpt");
  const said = body["stream"] === "true" ? "word ".repeat(20) : "What was said.";
  const [sound, text] = [seconds * 10, tokensOf(said)];
  if (isByToken) charge(sound * SERVICE_PRICES.soundToken + text * SERVICE_PRICES.outputToken);
  else charge(seconds * SERVICE_PRICES.second);
  await pause(job, performance.workMs);
  if (response.destroyed) return;
  const truth = isByToken
    ? { type: "tokens", input_tokens: sound, output_tokens: text, input_token_details: { audio_tokens: sound } }
    : { type: "duration", seconds };
  const told = toldOr(performance, truth);
  if (body["stream"] !== "true") return void sendJson(response, { text: said, ...told });
  startEvents(response);
  for (let word = 0; word < 20; word++) {
    if (response.destroyed) return;
    response.write(`data: ${JSON.stringify({ type: "transcript.text.delta", delta: "word " })}\n\n`);
    await pause(job, performance.everyMs);
  }
  response.end(`data: ${JSON.stringify({ type: "transcript.text.done", text: said, ...told })}\n\n`);
}

async function moderation(job: Job): Promise<void> {
  const tokens = tokensOf(job.body["input"]);
  job.charge(tokens * SERVICE_PRICES.promptToken);
  await pause(job, job.performance.workMs);
  const told = toldOr(job.performance, { prompt_tokens: tokens, total_tokens: tokens });
  sendJson(job.response, { id: "m", model: "m", results: [{ flagged: false }], ...told });
}

/** As many choices as requested, for each prompt, all of them charged. */
async function completion(job: Job): Promise<void> {
  const { body, response, performance, charge } = job;
  const { words = 40, word = "word" } = performance;
  const { prompt } = body;
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== "number" ? prompt.length : 1;
  const shown = Number(body["n"] ?? 1) * prompts;
  const answers = Math.max(shown, Number(body["best_of"] ?? 1) * prompts);
  const input = tokensOf(prompt);
  charge(input * SERVICE_PRICES.promptToken);
  await pause(job, performance.workMs);
  if (response.destroyed) return;
  const perWord = Math.max(1, tokensOf(word));
  const output = words * perWord * answers;
  const truth = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const chunk = (text: string, finish_reason: string | null) => ({
    id: "cmpl-1",
    object: "text_completion",
    created: 1,
    model: "m",
    choices: Array.from({ length: shown }, (_, index) => ({ index, text, finish_reason, logprobs: null })),
  });
  if (body["stream"] !== true) {
    charge(output * SERVICE_PRICES.outputToken);
    return void sendJson(response, { ...chunk(word.repeat(words), "stop"), ...toldOr(performance, truth) });
  }
  startEvents(response);
  for (let index = 0; index < words; index++) {
    if (response.destroyed) return;
    response.write(`data: ${JSON.stringify(chunk(word, null))}\n\n`);
    await pause(job, performance.everyMs);
    // What was in transit when a client disconnected is not charged.
    if (response.destroyed) return;
    charge(perWord * answers * SERVICE_PRICES.outputToken);
  }
  const told = toldOr(performance, truth);
  response.write(`data: ${JSON.stringify(chunk("", "stop"))}\n\n`);
  if (told.usage !== undefined)
    response.write(`data: ${JSON.stringify({ ...chunk("", null), choices: [], ...told })}\n\n`);
  response.end("data: [DONE]\n\n");
}

const SERVICES: readonly (readonly [path: string, serve: (job: Job) => Promise<void>])[] = [
  ["/embeddings", embeddings],
  ["/rerank", rerank],
  ["/audio/speech", speech],
  ["/audio/transcriptions", transcription],
  ["/audio/translations", transcription],
  ["/moderations", moderation],
  ["/completions", completion],
];
