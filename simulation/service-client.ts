import type { ServedConnection } from "../src/server/request-handler.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import type { ClientEnding } from "./book.ts";
import { secretOf } from "./configuration.ts";
import { type ReadService, readService } from "./read-service.ts";
import { requestEnd } from "./request-end.ts";
import { GATEWAY_URL } from "./requests.ts";
import type { ServicePlan } from "./scenario.ts";
import { SERVICE_MODELS } from "./service-configuration.ts";
import type { ServiceBook } from "./service-host.ts";
import { inputOf, recordingOf } from "./service-wires.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

interface ServiceClientOptions {
  clock: VirtualClock;
  /** Called once, when the call is over for its client. */
  onEnd: (client: ServiceClient, read: ReadService | undefined) => void;
}

const PATHS = {
  embeddings: "/embeddings",
  rerank: "/rerank",
  speech: "/audio/speech",
  transcriptions: "/audio/transcriptions",
  completions: "/completions",
  moderations: "/moderations",
} as const;

/** A client with one service call: sends it, and reads the response as planned. */
export class ServiceClient implements ServedConnection {
  readonly address = "127.0.0.1";
  trusted = false;
  held = false;
  readonly book: ServiceBook;
  readonly #options: ServiceClientOptions;
  readonly #leaving = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #chunks: Uint8Array[] = [];

  constructor(book: ServiceBook, options: ServiceClientOptions) {
    this.book = book;
    this.#options = options;
  }

  hold(): void {
    this.held = true;
  }

  rest(): void {}

  /** The gateway closes the connection. */
  hangUp(): void {
    this.#end("cut");
  }

  /** The gateway was killed. */
  cut(): void {
    this.#end("cut");
  }

  async send(process: SimulatedProcess): Promise<void> {
    const { leavesAfterMs } = this.book.plan.reading;
    if (leavesAfterMs !== undefined) this.#options.clock.after(leavesAfterMs, () => this.#leave());
    process.ids.tellNext((id) => {
      this.book.requestEnd = requestEnd(id);
    });
    const response = await process.handle(requestOf(this.book.plan, this.#leaving.signal), this);
    try {
      await this.#read(response);
    } catch {
      // The response breaks off, which is how byte streams fail.
      this.#end("cut");
    }
  }

  async #read(response: Response): Promise<void> {
    const { book } = this;
    if (book.ending !== undefined) return;
    book.status = response.status;
    book.receiptId = response.headers.get("x-trivium-receipt") ?? undefined;
    // Only a response is read slowly or abandoned.
    const { leavesAfterChunks, stallsMs } = response.status === 200 ? book.plan.reading : {};
    this.#reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
    for (let chunks = 1; ; chunks++) {
      const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined };
      if (book.ending !== undefined) return;
      if (done) break;
      this.#chunks.push(value.slice());
      if (chunks === leavesAfterChunks) return this.#leave();
      if (chunks === 1 && stallsMs !== undefined) await this.#options.clock.sleep(stallsMs);
      if (book.ending !== undefined) return;
    }
    const read = readService(book.plan, book.status, Buffer.concat(this.#chunks), true);
    this.#end(read.errors > 0 ? "failed" : "whole", read);
  }

  #leave(): void {
    if (this.book.ending !== undefined) return;
    this.#end("left");
    this.#leaving.abort();
    void this.#reader?.cancel().catch(() => {});
  }

  #end(ending: ClientEnding, whole?: ReadService): void {
    const { book } = this;
    if (book.ending !== undefined) return;
    book.ending = ending;
    book.endedAtMs = this.#options.clock.nowMs();
    const isBegun = book.status === 200 && this.#chunks.length > 0;
    const read = whole ?? (isBegun ? readService(book.plan, 200, Buffer.concat(this.#chunks), false) : undefined);
    book.content = read?.content ?? "";
    this.#options.onEnd(this, read);
  }
}

/** The request of a call, as a client without an SDK would send it. It names the call. */
function requestOf(plan: ServicePlan, signal: AbortSignal): Request {
  const { fallback, deadlineMs } = plan.routing;
  const headers: Record<string, string> = {
    host: "127.0.0.1:8080",
    authorization: `Bearer ${secretOf(plan.key)}`,
    ...(deadlineMs !== undefined && { "x-trivium-deadline-ms": String(deadlineMs) }),
    ...(fallback !== undefined && { "x-trivium-routing": JSON.stringify({ provider: { fallback } }) }),
  };
  const url = `${GATEWAY_URL}${plan.id % 2 === 0 ? "/v1" : "/api/v1"}${PATHS[plan.service]}`;
  const { body, type } = plan.service === "transcriptions" ? formOf(plan) : jsonOf(plan);
  headers["content-type"] = type;
  headers["content-length"] = String(body.length);
  return new Request(url, { method: "POST", headers, body, signal });
}

function jsonOf(plan: ServicePlan): { body: Buffer<ArrayBuffer>; type: string } {
  return { body: Buffer.from(JSON.stringify(bodyOf(plan))), type: "application/json" };
}

function bodyOf(plan: ServicePlan): object {
  const { id, service, size, stream } = plan;
  const model = SERVICE_MODELS[service].id;
  const texts = () => Array.from({ length: size }, (_, index) => inputOf(plan, index));
  switch (service) {
    case "embeddings":
      return { model, input: texts(), encoding_format: id % 4 < 2 ? "base64" : "float" };
    case "rerank":
      return { model, query: `call-${id}- what?`, documents: texts() };
    case "speech":
      return { model, voice: "alloy", input: inputOf(plan, size) };
    case "completions":
      return { model, prompt: inputOf(plan, size), max_tokens: 1000, stream };
    default:
      return { model, input: inputOf(plan, size) };
  }
}

const BOUNDARY = "----simulated-boundary";

/** Written by hand: the runtime's forms use a random boundary. */
function formOf(plan: ServicePlan): { body: Buffer<ArrayBuffer>; type: string } {
  const field = (name: string, value: string) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const head = [
    field("model", SERVICE_MODELS.transcriptions.id),
    field("prompt", inputOf(plan, plan.size)),
    plan.stream ? field("stream", "true") : "",
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n`,
  ].join("");
  const body = Buffer.concat([Buffer.from(head), recordingOf(plan), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
  return { body, type: `multipart/form-data; boundary=${BOUNDARY}` };
}
