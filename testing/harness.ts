import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeGateway } from "../src/app/make-gateway.ts";
import { makeOperations } from "../src/app/make-operations.ts";
import { readConfig } from "../src/app/read-config.ts";
import { makeSnapshot } from "../src/app/snapshot.ts";
import type { Clock } from "../src/base/clock.ts";
import type { Random, Sources } from "../src/base/sources.ts";
import type { DialectName } from "../src/canon/dialect-name.ts";
import type { Config } from "../src/config/config.ts";
import type { FileStore } from "../src/files/file-store.ts";
import type { IssuerFetch } from "../src/identity/issuer.ts";
import type { Leases } from "../src/leases/leases.ts";
import type { Journal } from "../src/ledger/journal.ts";
import { createLog } from "../src/observe/log.ts";
import type { OperationPoller } from "../src/operations/poller.ts";
import { BUILT_IN } from "../src/providers/index.ts";
import type { Gateway } from "../src/relay/gateway.ts";
import { DEFAULT_TIMINGS, type Timings } from "../src/relay/settle/timings.ts";
import { LiveSessions } from "../src/server/live/live-sessions.ts";
import { createRequestHandler, type RequestHandler } from "../src/server/request-handler.ts";
import type { ServerContext } from "../src/server/routed-request.ts";
import { ROUTES } from "../src/server/routes.ts";
import type { Siblings } from "../src/storage/changes.ts";
import type { Storage } from "../src/storage/storage.ts";
import type { Tracing } from "../src/telemetry/tracing.ts";
import type { Send } from "../src/wire/send.ts";
import { buildCall, type CallOptions } from "./build-call.ts";
import { MemorySockets } from "./live/memory-sockets.ts";
import { LiveClient } from "./live-client.ts";
import { MemoryFileStore } from "./memory-file-store.ts";
import { MemoryNetwork } from "./memory-network.ts";
import { openMemoryStorage } from "./memory-storage.ts";
import { MemoryWeb } from "./memory-web.ts";
import type { ReceiptData } from "./receipt-data.ts";
import { scriptedModels } from "./scripted-models.ts";
import { type ReadAnswer, type ReadingOptions, SentCall } from "./sent-call.ts";
import { TEST_KEY } from "./test-key.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface HarnessOptions {
  /** Sections of trivium.yaml. */
  config?: Record<string, unknown>;
  timings?: Partial<Timings>;
  /** Told what the gateway logs, line by line. */
  onLog?: (line: string) => void;
  /** Its environment: that of another gateway, to start several in sequence or at the same time. */
  machine?: Machine;
  /** Where traces are to be exported. */
  tracing?: Tracing;
  /** The issuers of tokens; default: none responds. */
  fetchIssuer?: IssuerFetch;
  /** The other processes of its machine, and what it shares limits through. */
  siblings?: Siblings;
  leases?: Leases;
  journal?: Journal;
  /** The process that it runs in, if the test kills it. */
  within?: ProcessParts;
}

/** State that outlives a gateway. */
export interface Machine {
  clock: VirtualClock;
  upstream: MemoryNetwork;
  /** Hosts of live connections. */
  sockets: MemorySockets;
  /** Where media are that a URL names. */
  web: MemoryWeb;
  random: Random;
  storage: Storage;
  fileStore: FileStore;
}

/** A machine's parts as one process has them. */
export interface ProcessParts {
  clock: Clock;
  send: Send;
  storage: Storage;
  fileStore: FileStore;
}

export async function makeMachine(clock = new VirtualClock()): Promise<Machine> {
  return {
    clock,
    upstream: new MemoryNetwork(clock),
    sockets: new MemorySockets(),
    web: new MemoryWeb(clock),
    random: predictable(),
    storage: await openMemoryStorage(clock),
    fileStore: new MemoryFileStore(clock.wallMs),
  };
}

/** Where the providers of a test are, though every URL leads to its network. */
export const UPSTREAM_URL = "http://upstream.localhost";
const URL_OF_GATEWAY = "http://127.0.0.1:8080";

/** Shorter draws decide something, such as a pause. */
const NAME_BYTES = 16;

/** Sequential ids, constant chances, and names that differ: the last byte of a long draw is sequential. */
function predictable(): Random {
  let made = 0;
  let drawn = 0;
  return {
    bytes: (length) => {
      const bytes = new Uint8Array(length).fill(7);
      return length < NAME_BYTES ? bytes : bytes.fill(drawn++ % 256, length - 1);
    },
    id: () => String(++made).padStart(22, "0"),
  };
}

/**
 * A whole gateway in memory, made of the same parts as the program: no sockets, no disk, and a virtual clock that only
 * advances while a test waits for something.
 */
export class Harness {
  readonly machine: Machine;
  readonly gateway: Gateway;
  /** Brings operations to their end once it is started. */
  readonly poller: OperationPoller;
  /** The context of its listeners. */
  readonly context: ServerContext;
  readonly config: Config;
  readonly #handle: RequestHandler;

  private constructor(
    machine: Machine,
    config: Config,
    context: ServerContext,
    poller: OperationPoller,
    handle: RequestHandler,
  ) {
    const { gateway } = context;
    this.machine = machine;
    this.config = config;
    this.context = context;
    this.gateway = gateway;
    this.poller = poller;
    this.#handle = handle;
  }

  get clock(): VirtualClock {
    return this.machine.clock;
  }

  get upstream(): MemoryNetwork {
    return this.machine.upstream;
  }

  get sockets(): MemorySockets {
    return this.machine.sockets;
  }

  get web(): MemoryWeb {
    return this.machine.web;
  }

  get storage(): Storage {
    return this.machine.storage;
  }

  static async start({
    config: sections = scriptedModels(UPSTREAM_URL),
    timings,
    onLog,
    machine: given,
    within,
    tracing,
    siblings,
    leases,
    journal,
    fetchIssuer = () => Promise.reject(new Error("no issuer")),
  }: HarnessOptions = {}): Promise<Harness> {
    const machine = given ?? (await makeMachine());
    const { clock, send, storage, fileStore } = within ?? { ...machine, send: machine.upstream.send };
    const sources: Sources = { clock, random: machine.random };
    const config = configOf(sections);
    const gateway = await makeGateway(config, {
      ...sources,
      instance: "instance_test",
      send,
      connect: machine.sockets.connect,
      fetchMedia: machine.web.fetchMedia,
      streamMedia: machine.web.streamMedia,
      log: createLog({
        clock,
        level: onLog ? "debug" : "silent",
        format: "json",
        write: async (text) => onLog?.(text),
      }),
      timings: { ...DEFAULT_TIMINGS, ...timings },
      publicUrl: () => URL_OF_GATEWAY,
      snapshot: makeSnapshot(config, {}, sources, undefined),
      storage,
      fileStore,
      fetchIssuer,
      tracing,
      siblings,
      leases,
      journal,
      answerKey: new Uint8Array(32).fill(3),
    });
    const { operations, poller } = await makeOperations(gateway, storage, config.retention.ms);
    const context: ServerContext = {
      dialects: BUILT_IN.dialects,
      gateway,
      storage,
      operations,
      live: new LiveSessions(clock),
      accepting: () => true,
      draining: () => false,
      condition: () => ({ status: "ready", reasons: [] }),
      publicUrl: () => URL_OF_GATEWAY,
      version: "test",
    };
    const handle = createRequestHandler({ host: "127.0.0.1", publicUrl: URL_OF_GATEWAY, routes: ROUTES, context });
    return new Harness(machine, config, context, poller, handle);
  }

  /** Sends a call; time passes while something of it is waited for with the clock. */
  send(dialect: DialectName, { readsChunks, ...options }: CallOptions & ReadingOptions = {}): SentCall {
    const reading = readsChunks === undefined ? {} : { readsChunks };
    return new SentCall(this.#handle, this.clock, buildCall(URL_OF_GATEWAY, dialect, TEST_KEY, options), reading);
  }

  /** Sends a call, and lets time pass until its answer is whole. */
  async call(dialect: DialectName, options: CallOptions = {}): Promise<ReadAnswer> {
    return await this.clock.until(this.send(dialect, options).answer);
  }

  /** Sends a request that is not an ordinary call. */
  sendPost(
    path: string,
    body: object,
    key = TEST_KEY,
    more: Record<string, string> = {},
    reading: ReadingOptions = {},
  ): SentCall {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...more };
    return this.#send(path, { method: "POST", headers, body: JSON.stringify(body) }, reading);
  }

  /** The same as a form, whose length is not known in advance. */
  sendForm(path: string, body: FormData): SentCall {
    return this.sendRaw(path, body, {});
  }

  /** Sends it, and lets time pass until its answer is whole. */
  async post(path: string, body: object, key?: string): Promise<ReadAnswer> {
    return await this.clock.until(this.sendPost(path, body, key).answer);
  }

  /** A body of any kind, with these headers and the test's key. */
  sendRaw(path: string, body: NonNullable<RequestInit["body"]>, headers: Record<string, string>): SentCall {
    return this.#send(path, { method: "POST", headers: { authorization: `Bearer ${TEST_KEY}`, ...headers }, body });
  }

  /** The same without a credential. */
  sendBare(path: string, body: NonNullable<RequestInit["body"]>, headers: Record<string, string>): SentCall {
    return this.#send(path, { method: "POST", headers, body });
  }

  /** Fetches a path, or a URL from a response. */
  async get(path: string, headers: Record<string, string> = {}): Promise<ReadAnswer> {
    return await this.clock.until(this.#send(path, { headers }).answer);
  }

  /** A request of any method. */
  async ask(method: string, path: string, key = TEST_KEY, body?: object): Promise<ReadAnswer> {
    const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return await this.clock.until(this.#send(path, { method, headers, ...sent }).answer);
  }

  /** Opens a live connection. */
  async openLive(path = "/v1/responses", { key = TEST_KEY, headers = {} } = {}): Promise<LiveClient> {
    const given = { authorization: `Bearer ${key}`, ...headers };
    return await LiveClient.open(this.#handle, this.clock, new URL(path, URL_OF_GATEWAY).href, given);
  }

  #send(path: string, init: RequestInit, reading: ReadingOptions = {}): SentCall {
    return new SentCall(this.#handle, this.clock, [new URL(path, URL_OF_GATEWAY).href, init], reading);
  }

  /** The receipt of an answer, as the API shows it. */
  async receipt({ headers }: { headers: Headers }): Promise<ReceiptData> {
    return this.receiptOf(headers.get("x-trivium-receipt") ?? "");
  }

  async receiptOf(id: string): Promise<ReceiptData> {
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const found = await this.clock.until(this.#send(`/api/v1/generation?id=${id}`, { headers }).answer);
    if (found.status !== 200) throw new Error(`no receipt ${id}: ${found.text}`);
    return (JSON.parse(found.text) as { data: ReceiptData }).data;
  }

  /** Every receipt so far, oldest first. */
  async receipts(): Promise<ReceiptData[]> {
    const rows = await this.storage.query("SELECT id FROM receipts ORDER BY id");
    const all: ReceiptData[] = [];
    for (const row of rows) all.push(await this.receiptOf(String(row["id"])));
    return all;
  }

  /** Resources that every call must have returned. */
  leftovers(): Record<string, number> {
    const { orphanedTexts, orphanedImages, memory, background } = this.gateway;
    const runningCalls = this.gateway.runningCalls + background.running;
    return { runningCalls, orphanedTexts, orphanedImages, heldBytes: memory.held, openUpstreams: this.upstream.open };
  }
}

/** Those that were read before, by their text: most tests of a file have the same one, and to read it takes longer than to start. */
const read = new Map<string, Config>();
const READ_AT_MOST = 100;

/** As the program reads it, from a file that is gone again. */
function configOf(sections: Record<string, unknown>): Config {
  const text = JSON.stringify({ simulator: false, keys: [{ name: "tests", key: TEST_KEY }], ...sections });
  const known = read.get(text);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "trivium-harness-"));
  const configPath = join(folder, "trivium.yaml");
  try {
    writeFileSync(configPath, text);
    const config = readConfig({ configPath, cwd: folder, environment: {} });
    if (read.size >= READ_AT_MOST) read.clear();
    read.set(text, config);
    return config;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
