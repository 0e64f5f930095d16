import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Json = Record<string, unknown>;
export type BatchVendor = "openai" | "anthropic" | "gemini";

/** What the host answers to one request. */
export interface LineAnswer {
  status?: number;
  body: object;
}

interface HostLine {
  id: string;
  body: Json;
}

interface HostBatch {
  id: string;
  vendor: BatchVendor;
  /** The client's name for it, where the API has one. */
  name: string;
  endpoint: string;
  lines: readonly HostLine[];
  createdAtMs: number;
  state: "running" | "cancelling" | "completed" | "cancelled" | "expired" | "failed";
  /** How many lines were run. */
  done: number;
}

/** Ways in which the host misbehaves. All are off unless set. */
export interface BatchFaults {
  /** Batches do not end. */
  isHeld: boolean;
  /** Batches fail with this reason. */
  failure: string | undefined;
  /** So many creations are refused with this status. */
  refusals: { status: number; times: number };
  /** So many creations succeed, and their responses are lost. */
  lostCreations: number;
  /** The result of this line, counted from zero, is missing. */
  missing: number | undefined;
  /** The first result comes twice. */
  repeats: boolean;
  /** There is a result for a line that does not exist. */
  strays: boolean;
  /** So many downloads of results break off in the middle. */
  cutResults: number;
  /** The pause after each result of a download. */
  slowResultsMs: number;
  /** Batches expire after so many lines. */
  expiresAfter: number | undefined;
  /** A batch that is cancelled has run so many lines. */
  doneAtCancel: number;
}

const NO_FAULTS: BatchFaults = {
  isHeld: false,
  failure: undefined,
  refusals: { status: 400, times: 0 },
  lostCreations: 0,
  missing: undefined,
  repeats: false,
  strays: false,
  cutResults: 0,
  slowResultsMs: 0,
  expiresAfter: undefined,
  doneAtCancel: 0,
};

/**
 * A host with the files and batch APIs of three vendors, over HTTP, as their SDKs declare them. A batch ends when it is polled or listed. Requests
 * to the endpoints of single calls are answered as well.
 */
export class PlayedBatchHost {
  url = "";
  faults: BatchFaults = structuredClone(NO_FAULTS);
  /** Called when a batch exists, before the response says so. */
  onCreation: () => Promise<void> = async () => {};
  /** How often each kind of request arrived. */
  readonly counts = { uploads: 0, creations: 0, polls: 0, cancels: 0, lists: 0, downloads: 0, calls: 0 };
  readonly batches = new Map<string, HostBatch>();
  /** When each poll arrived. */
  readonly polledAtMs: number[] = [];
  /** The credentials and betas that arrived. */
  readonly seenHeaders: IncomingMessage["headers"][] = [];
  readonly #files = new Map<string, string>();
  readonly #answer: (body: Json, vendor: BatchVendor, endpoint: string) => LineAnswer;
  #serial = 0;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  constructor(answer: (body: Json, vendor: BatchVendor, endpoint: string) => LineAnswer) {
    this.#answer = answer;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  reset(): void {
    this.faults = structuredClone(NO_FAULTS);
    this.batches.clear();
    this.polledAtMs.length = 0;
    this.seenHeaders.length = 0;
    for (const name of Object.keys(this.counts) as (keyof typeof this.counts)[]) this.counts[name] = 0;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const url = new URL(request.url ?? "/", this.url);
    const { method = "GET", headers } = request;
    this.seenHeaders.push(headers);
    const path = url.pathname;
    const route = `${method} ${path}`;
    const openai = /^\/v1\/batches(?:\/([^/]+))?(\/cancel)?$/.exec(path);
    const anthropic = /^\/v1\/messages\/batches(?:\/([^/]+))?(\/cancel|\/results)?$/.exec(path);
    const gemini = /^\/v1beta\/(batches\/[^/:]+)(:cancel)?$/.exec(path);
    if (route === "POST /v1/files") return this.#upload(body, response);
    if (path.startsWith("/v1/files/")) return this.#download(path.split("/")[3] ?? "", response);
    if (route === "POST /v1/batches") return this.#create("openai", this.#openaiLines(body), response);
    if (route === "POST /v1/messages/batches") return this.#create("anthropic", anthropicLines(body), response);
    if (path.endsWith(":batchGenerateContent")) return this.#create("gemini", geminiLines(body), response);
    if (route === "GET /v1/batches" || route === "GET /v1/messages/batches" || route === "GET /v1beta/batches")
      return this.#list(path, response);
    const id = openai?.[1] ?? anthropic?.[1] ?? gemini?.[1];
    if (id === undefined) return this.#call(JSON.parse(body) as Json, path, response);
    const batch = this.batches.get(id);
    if (batch === undefined) return send(response, { error: { message: "No such batch." } }, 404);
    if (anthropic?.[2] === "/results") return this.#stream(this.#resultLines(batch).join("\n"), response);
    if (method === "POST") return this.#cancel(batch, response);
    this.counts.polls++;
    this.polledAtMs.push(Date.now());
    this.#progress(batch);
    send(response, this.#shown(batch));
  }

  #upload(form: string, response: ServerResponse): void {
    this.counts.uploads++;
    const id = `file-of-host-${++this.#serial}`;
    const content = /filename="[^"]*"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(form)?.[1] ?? "";
    this.#files.set(id, content);
    send(response, { id, object: "file", purpose: "batch", bytes: content.length });
  }

  #openaiLines(text: string): Pick<HostBatch, "name" | "lines" | "endpoint"> {
    const body = JSON.parse(text) as { input_file_id: string; endpoint: string; metadata?: Record<string, string> };
    const lines = (this.#files.get(body.input_file_id) ?? "").trim().split("\n");
    return {
      name: Object.values(body.metadata ?? {})[0] ?? "",
      endpoint: body.endpoint,
      lines: lines.map((line) => {
        const { custom_id, body: sent, url } = JSON.parse(line) as { custom_id: string; body: Json; url: string };
        if (url !== body.endpoint) throw new Error("a line names another endpoint");
        return { id: custom_id, body: sent };
      }),
    };
  }

  async #create(
    vendor: BatchVendor,
    made: Pick<HostBatch, "name" | "lines" | "endpoint">,
    response: ServerResponse,
  ): Promise<void> {
    this.counts.creations++;
    const { refusals } = this.faults;
    if (refusals.times > 0) {
      refusals.times--;
      const error = { type: "invalid_request_error", message: "This batch is refused.", code: refusals.status };
      return send(response, { type: "error", error }, refusals.status);
    }
    const id = `${vendor === "gemini" ? "batches/" : ""}${vendor}-batch-of-host-${++this.#serial}`;
    const batch: HostBatch = { id, vendor, ...made, createdAtMs: Date.now(), state: "running", done: 0 };
    this.batches.set(id, batch);
    await this.onCreation();
    if (this.faults.lostCreations > 0) {
      this.faults.lostCreations--;
      response.destroy();
      return;
    }
    send(response, this.#shown(batch));
  }

  #list(path: string, response: ServerResponse): void {
    this.counts.lists++;
    for (const batch of this.batches.values()) this.#progress(batch);
    const shown = [...this.batches.values()].reverse().map((batch) => this.#shown(batch));
    const isGemini = path === "/v1beta/batches";
    send(response, isGemini ? { operations: shown } : { data: shown, has_more: false, first_id: null, last_id: null });
  }

  #cancel(batch: HostBatch, response: ServerResponse): void {
    this.counts.cancels++;
    if (batch.state === "running") batch.state = "cancelling";
    send(response, this.#shown(batch));
  }

  #call(body: Json, path: string, response: ServerResponse): void {
    this.counts.calls++;
    const vendor = path.includes("/v1beta/") ? "gemini" : path.endsWith("/messages") ? "anthropic" : "openai";
    const { status = 200, body: answer } = this.#answer(body, vendor, path);
    send(response, answer, status);
  }

  #progress(batch: HostBatch): void {
    const { isHeld, failure, expiresAfter, doneAtCancel } = this.faults;
    if (batch.state === "cancelling") [batch.state, batch.done] = ["cancelled", doneAtCancel];
    if (batch.state !== "running" || isHeld) return;
    if (failure !== undefined) batch.state = "failed";
    else if (expiresAfter !== undefined) [batch.state, batch.done] = ["expired", expiresAfter];
    else [batch.state, batch.done] = ["completed", batch.lines.length];
  }

  #resultLines(batch: HostBatch): string[] {
    const { missing, repeats, strays } = this.faults;
    const results = batch.lines.map(({ id, body }, index) => {
      if (index >= batch.done) return notRun(batch, id);
      const { status = 200, body: answer } = this.#answer(body, batch.vendor, batch.endpoint);
      return RENDER[batch.vendor](id, status, answer);
    });
    const kept = results.filter((_result, index) => index !== missing).filter((result) => result !== undefined);
    const first = kept[0];
    if (repeats && first !== undefined) kept.push(first);
    if (strays) kept.push(RENDER[batch.vendor]("not-a-line-of-this-batch", 200, {}));
    // Results come in any order.
    return kept.reverse().map((result) => JSON.stringify(result));
  }

  #download(id: string, response: ServerResponse): Promise<void> {
    this.counts.downloads++;
    return this.#stream(this.#files.get(id) ?? "", response);
  }

  async #stream(text: string, response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "application/x-jsonl" });
    const { slowResultsMs, cutResults } = this.faults;
    if (slowResultsMs > 0) {
      for (const line of text.split("\n")) {
        response.write(`${line}\n`);
        await Bun.sleep(slowResultsMs);
      }
      return void response.end();
    }
    if (cutResults === 0) return void response.end(`${text}\n`);
    this.faults.cutResults--;
    response.write(text.slice(0, Math.floor(text.length / 2)), () => setTimeout(() => response.destroy(), 20));
  }

  #shown(batch: HostBatch): object {
    const { id, vendor, state, name, endpoint, lines, createdAtMs } = batch;
    const isEnded = state === "completed" || state === "cancelled" || state === "expired";
    if (vendor === "openai") {
      const files = isEnded ? this.#outputFiles(batch) : {};
      const errors = { object: "list", data: [{ code: "token_limit_exceeded", message: this.faults.failure }] };
      return {
        id,
        object: "batch",
        endpoint,
        status: state === "running" ? "in_progress" : state,
        metadata: { trivium: name },
        created_at: Math.floor(createdAtMs / 1000),
        ...(state === "failed" ? { errors } : files),
      };
    }
    if (vendor === "anthropic") {
      const counts = {
        processing: isEnded ? 0 : lines.length,
        succeeded: batch.done,
        errored: 0,
        canceled: 0,
        expired: 0,
      };
      const left = isEnded ? lines.length - batch.done : 0;
      return {
        id,
        type: "message_batch",
        processing_status: isEnded ? "ended" : state === "cancelling" ? "canceling" : "in_progress",
        created_at: new Date(createdAtMs).toISOString(),
        request_counts: { ...counts, [state === "expired" ? "expired" : "canceled"]: left },
      };
    }
    const states = { cancelling: "RUNNING", completed: "SUCCEEDED" } as const;
    const shownState = `BATCH_STATE_${states[state as keyof typeof states] ?? state.toUpperCase()}`;
    const inlinedResponses = isEnded ? this.#resultLines(batch).map((line) => JSON.parse(line) as object) : undefined;
    const output = inlinedResponses && { inlinedResponses: { inlinedResponses } };
    return {
      name: id,
      metadata: { name: id, displayName: name, state: shownState, ...(output ? { output } : {}) },
      ...(state === "failed" ? { done: true, error: { code: 3, message: this.faults.failure } } : {}),
    };
  }

  #outputFiles(batch: HostBatch): object {
    const lines = this.#resultLines(batch);
    const isError = (line: string) =>
      ((JSON.parse(line) as { response?: Json }).response?.["status_code"] ?? 500) !== 200;
    const fileOf = (kept: readonly string[], name: string) => {
      if (kept.length === 0) return {};
      const id = `${name}-of-${batch.id}`;
      this.#files.set(id, kept.join("\n"));
      return { [name]: id };
    };
    return {
      ...fileOf(
        lines.filter((line) => !isError(line)),
        "output_file_id",
      ),
      ...fileOf(lines.filter(isError), "error_file_id"),
    };
  }
}

const send = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

function anthropicLines(text: string): Pick<HostBatch, "name" | "lines" | "endpoint"> {
  const { requests } = JSON.parse(text) as { requests: { custom_id: string; params: Json }[] };
  for (const { custom_id } of requests) if (!/^[a-zA-Z0-9_-]{1,64}$/.test(custom_id)) throw new Error("bad custom_id");
  return {
    name: "",
    endpoint: "/v1/messages",
    lines: requests.map((one) => ({ id: one.custom_id, body: one.params })),
  };
}

function geminiLines(text: string): Pick<HostBatch, "name" | "lines" | "endpoint"> {
  interface GeminiBatch {
    batch: {
      displayName: string;
      inputConfig: { requests: { requests: { request: Json; metadata: { key: string } }[] } };
    };
  }
  const { displayName, inputConfig } = (JSON.parse(text) as GeminiBatch).batch;
  const lines = inputConfig.requests.requests.map(({ request, metadata }) => ({ id: metadata.key, body: request }));
  return { name: displayName, endpoint: "generateContent", lines };
}

const RENDER: Readonly<Record<BatchVendor, (id: string, status: number, body: object) => object>> = {
  openai: (custom_id, status_code, body) => ({
    id: `batch_req_${custom_id}`,
    custom_id,
    response: { status_code, request_id: "req_of_host", body },
    error: null,
  }),
  anthropic: (custom_id, status, body) => ({
    custom_id,
    result: status < 300 ? { type: "succeeded", message: body } : { type: "errored", error: body },
  }),
  gemini: (key, status, body) => ({ ...(status < 300 ? { response: body } : body), metadata: { key } }),
};

function notRun({ vendor, state }: HostBatch, custom_id: string): object | undefined {
  const isExpired = state === "expired";
  if (vendor === "gemini") return undefined;
  if (vendor === "anthropic") return { custom_id, result: { type: isExpired ? "expired" : "canceled" } };
  const error = { code: isExpired ? "batch_expired" : "batch_cancelled", message: "This request was not run." };
  return { id: `batch_req_${custom_id}`, custom_id, response: null, error };
}
