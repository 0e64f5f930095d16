import type { ServerResponse } from "node:http";
import { plainAnswer } from "../../testing/plain-answer.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesAnswer, responsesUsage } from "../../testing/wires/responses-wire.ts";
import {
  type ScriptedUpstream,
  type SeenRequest,
  sendJson,
  startEvents,
  startScriptedUpstream,
} from "../support/scripted-upstream.ts";

/** What the host charges for a token, in nano-dollars; `scriptedModels` has the same prices. */
const PROMPT_PRICE = 1_000;
const OUTPUT_PRICE = 2_000;
/** More expensive terms, as hosts spell them. */
const MULTIPLES: Readonly<Record<string, number>> = { priority: 1.8, fast: 6, us: 1.1 };
/** A prompt above the first is billed at the second times the price, if its beta was sent. */
const LONG_CONTEXT = { tokens: 200_000, multiple: 3, beta: "context-1m" };
/** The price of a model that nobody was allowed to request. */
const DEAR = 100;
export const DEAR_MODEL = "up-dear";

/** One response, as the host makes it. */
export interface Performance {
  promptTokens: number;
  /** Price of a prompt token in nano-dollars, if it differs from the usual one: audio, cache, a longer prompt. */
  promptPrice?: number;
  /** Hidden thinking before the first word. */
  thinkingTokens?: number;
  /** The content in chunks, each with its true token count. */
  chunks: readonly Chunk[];
  /** Between two chunks. */
  everyMs?: number;
  /** Before the first. */
  thinkingMs?: number;
  /** Between the last chunk and the usage. */
  tailMs?: number;
  /** The usage that it reports instead of the truth. */
  tells?: object;
  /** At the beginning of a messages stream; the rest at its end. */
  tellsFirst?: object;
}

export type Chunk = readonly [text: string, tokens: number];

/** This many English words, one token each. */
export const words = (count: number, last = "done"): Chunk[] =>
  Array.from({ length: count }, (_, index): Chunk => [index === count - 1 ? last : "word ", 1]);

/**
 * A host that keeps accounts: for each purse, what it charges for the requests that reached it. It counts the tokens
 * that it generates until it is done or its connection is closed. It reads field names case-insensitively, the last
 * one winning, as hosts written in Go do.
 */
export class BillingHost {
  readonly upstream: ScriptedUpstream;
  readonly #books = new Map<string, { nanoUsd: number; requests: number }>();
  readonly #performances = new Map<string, Performance>();

  constructor(upstream: ScriptedUpstream) {
    this.upstream = upstream;
    upstream.play((request, response) => this.#serve(request, response));
  }

  static async start(): Promise<BillingHost> {
    return new BillingHost(await startScriptedUpstream());
  }

  /** The behaviour for prompts that contain the purse's name. */
  rehearse(purse: string, performance: Performance): void {
    this.#performances.set(purse, performance);
  }

  billed(purse: string): number {
    return this.#books.get(purse)?.nanoUsd ?? 0;
  }

  requests(purse: string): number {
    return this.#books.get(purse)?.requests ?? 0;
  }

  async #serve(request: SeenRequest, response: ServerResponse): Promise<void> {
    const purse = /purse-\d+/.exec(request.body)?.[0] ?? "";
    const performance = this.#performances.get(purse);
    if (performance === undefined) return void sendJson(response, { error: { message: "unknown" } }, 500);
    const book = this.#books.get(purse) ?? { nanoUsd: 0, requests: 0 };
    this.#books.set(purse, book);
    book.requests++;
    const body = foldedFields(JSON.parse(request.body));
    const answers = Number(body["n"] ?? foldedFields(body["generationconfig"])["candidatecount"] ?? 1);
    const times = timesOf(request, body, performance);
    const charge = (tokens: number, price: number) => {
      book.nanoUsd += tokens * price * times;
    };
    charge(performance.promptTokens, performance.promptPrice ?? PROMPT_PRICE);
    await new Answer(request, body, response, performance, answers).send((tokens) =>
      charge(tokens * answers, OUTPUT_PRICE),
    );
  }

  stop(): Promise<void> {
    return this.upstream.stop();
  }
}

/**
 * How many times the standard price a request costs: by its model, by a model that it names elsewhere, and by its
 * terms.
 */
function timesOf({ path, headers }: SeenRequest, body: Record<string, unknown>, { promptTokens }: Performance): number {
  const named = JSON.stringify([
    body["model"],
    body["models"],
    body["fallbacks"],
    body["tools"],
    body["generationconfig"],
  ]);
  let times = `${named}${path}`.includes(DEAR_MODEL) ? DEAR : 1;
  const isLong = promptTokens > LONG_CONTEXT.tokens;
  if (isLong && String(headers["anthropic-beta"]).toLowerCase().includes(LONG_CONTEXT.beta))
    times *= LONG_CONTEXT.multiple;
  for (const field of ["service_tier", "servicetier", "speed", "inference_geo"])
    times *= MULTIPLES[String(body[field]).toLowerCase()] ?? 1;
  return times;
}

const fold = (name: string) => name.toLowerCase().replaceAll("\u017f", "s").replaceAll("\u212a", "k");

function foldedFields(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [fold(name), field]));
}

function dialectOf(path: string): ScriptedDialect {
  if (path.includes("/messages")) return "messages";
  if (path.includes(":")) return "genai";
  return path.includes("/responses") ? "responses" : "chat";
}

/** One response in progress, in the dialect and form of its request. */
class Answer {
  readonly #dialect: ScriptedDialect;
  readonly #stream: boolean;
  readonly #response: ServerResponse;
  readonly #performance: Performance;
  readonly #closed: Promise<void>;
  /** How many choices one prompt produces. */
  readonly #answers: number;
  #output = 0;
  readonly #script = new ResponsesScript();

  constructor(
    { path }: SeenRequest,
    body: Record<string, unknown>,
    response: ServerResponse,
    performance: Performance,
    answers: number,
  ) {
    this.#answers = answers;
    this.#dialect = dialectOf(path);
    this.#stream = body["stream"] === true || path.includes(":stream");
    this.#response = response;
    this.#performance = performance;
    this.#closed = new Promise((resolve) => void response.on("close", resolve));
  }

  async send(charge: (tokens: number) => void): Promise<void> {
    const { thinkingTokens = 0, chunks, everyMs = 0, thinkingMs = 0, tailMs = 0 } = this.#performance;
    if (!(await this.#work(thinkingMs, thinkingTokens, charge))) return;
    if (this.#stream) {
      startEvents(this.#response);
      if (this.#dialect === "messages") this.#response.write(this.#messageStart());
      if (this.#dialect === "responses") this.#response.write(this.#script.begin());
    }
    let onItsWay = 0;
    for (const [text, tokens] of chunks) {
      if (this.#stream) this.#response.write(this.#chunk(text, tokens));
      else this.#output += tokens;
      await this.#pause(everyMs);
      // What was in transit when a client disconnected is not charged.
      if (this.#response.destroyed) return;
      charge(onItsWay);
      onItsWay = tokens;
    }
    charge(onItsWay);
    await this.#pause(tailMs);
    if (this.#stream) this.#response.end(this.#end());
    else sendJson(this.#response, this.#whole());
  }

  /** Generates and charges until the client disconnects; returns false if it did. */
  async #work(ms: number, tokens: number, charge: (tokens: number) => void): Promise<boolean> {
    const startedMs = performance.now();
    await this.#pause(ms);
    const share = this.#response.destroyed && ms > 0 ? Math.min(1, (performance.now() - startedMs) / ms) : 1;
    charge(Math.floor(tokens * share));
    return !this.#response.destroyed;
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await Promise.race([Bun.sleep(ms), this.#closed]);
  }

  #usage(): object {
    const { promptTokens, tells } = this.#performance;
    if (tells !== undefined) return tells;
    const thinkingTokens = (this.#performance.thinkingTokens ?? 0) * this.#answers;
    const output = this.#output * this.#answers;
    const all = output + thinkingTokens;
    return {
      chat: {
        prompt_tokens: promptTokens,
        completion_tokens: all,
        total_tokens: promptTokens + all,
        completion_tokens_details: { reasoning_tokens: thinkingTokens },
      },
      messages: { input_tokens: promptTokens, output_tokens: all },
      responses: responsesUsage(promptTokens, all, thinkingTokens),
      genai: {
        promptTokenCount: promptTokens,
        candidatesTokenCount: output,
        thoughtsTokenCount: thinkingTokens,
        totalTokenCount: promptTokens + all,
      },
    }[this.#dialect];
  }

  #messageStart(): string {
    const { promptTokens, tells, tellsFirst = tells } = this.#performance;
    const start = wire.messageStart(tellsFirst ?? { input_tokens: promptTokens, output_tokens: 1 });
    return start + wire.event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  }

  #chunk(text: string, tokens: number): string {
    this.#output += tokens;
    switch (this.#dialect) {
      case "chat":
        return wire.chatChunk({ content: text });
      case "messages":
        return wire.event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
      case "genai":
        return wire.genaiChunk(text, undefined, this.#usage());
      case "responses":
        return this.#script.delta(text);
    }
  }

  #end(): string {
    switch (this.#dialect) {
      case "chat":
        return wire.chatChunk({}, "stop") + wire.chatUsage(this.#usage()) + wire.done;
      case "messages":
        return wire.messageEnd(this.#usage());
      case "genai":
        return wire.genaiChunk("", "STOP", this.#usage());
      case "responses":
        return this.#script.close() + this.#script.completed(this.#usage());
    }
  }

  #whole(): object {
    const text = this.#performance.chunks.map(([chunk]) => chunk).join("");
    if (this.#dialect === "responses") return responsesAnswer(text, this.#usage());
    return plainAnswer(this.#dialect, { text, usage: this.#usage() });
  }
}
