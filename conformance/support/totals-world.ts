import { createKey } from "../../src/access/keys.ts";
import { createProject } from "../../src/access/projects.ts";
import { system } from "../../src/base/system.ts";
import { RECEIPT_PREFIX, timePrefix } from "../../src/base/timed-id.ts";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import type { Receipt } from "../../src/canon/receipt.ts";
import { openStorage } from "../../src/storage/open.ts";
import { sampleReceipt } from "../../src/storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../../src/storage/receipts/receipts.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { buildCall } from "../../testing/build-call.ts";
import { until } from "./fault-harness.ts";
import {
  type Draw,
  drawCall,
  LOAD_MODELS,
  LOAD_TAGS,
  loadConfig,
  oneOf,
  type PlannedCall,
  playPlan,
} from "./random-load.ts";
import { type ReadSample, readMetrics, sumOf } from "./read-metrics.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";
import { COUNTERS, type CountedReceipt, countReceipt } from "./usage-groups.ts";

const ACTOR = { who: "test" };
const CALLS_AT_ONCE = 8;
const KEYS = [
  { name: "one", project: "red", tags: [] },
  { name: "two", project: "red", tags: ["team-a"] },
  { name: "three", project: "blue", tags: ["batch"] },
] as const;
/** Between two calls of one moment. */
const STEP_MS = 170;

interface Key {
  id: string;
  key: string;
}

/** A gateway whose wall clock is moved while random calls are made. */
export class TotalsWorld {
  readonly gateway: TestGateway;
  readonly storage: Storage;
  readonly keys: readonly Key[];
  /** Requests that were sent. */
  sent = 0;
  readonly #upstream: ScriptedUpstream;
  readonly #clock: { wallMs: number };

  private constructor(
    gateway: TestGateway,
    storage: Storage,
    keys: readonly Key[],
    upstream: ScriptedUpstream,
    clock: { wallMs: number },
  ) {
    this.gateway = gateway;
    this.storage = storage;
    this.keys = keys;
    this.#upstream = upstream;
    this.#clock = clock;
  }

  static async start(storageUrl: string, startMs: number, history: readonly Receipt[]): Promise<TotalsWorld> {
    const storage = await openStorage(storageUrl, system.clock);
    for (const id of new Set(KEYS.map(({ project }) => project))) await createProject(storage, { id }, system, ACTOR);
    const keys: Key[] = [];
    for (const request of KEYS) keys.push(await createKey(storage, request, system, ACTOR));
    await insertReceipts(storage, history);
    const upstream = await startScriptedUpstream();
    upstream.play(playPlan);
    const clock = { wallMs: startMs };
    const gateway = await startTestGateway({
      config: { ...loadConfig(upstream.url), storage: storageUrl },
      wallMs: () => clock.wallMs,
    });
    return new TotalsWorld(gateway, storage, keys, upstream, clock);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.storage.close();
    await this.#upstream.stop();
  }

  /** So many calls from that moment on, some at a time, until all of them are in the ledger. */
  async play(draw: Draw, momentMs: number, count: number): Promise<void> {
    this.#clock.wallMs = momentMs;
    const calls = Array.from({ length: count }, () => drawCall(draw, this.keys.length));
    const next = calls.values();
    const work = async () => {
      for (const call of next) {
        this.#clock.wallMs += STEP_MS;
        await this.#send(call);
      }
    };
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
    await until("every call is settled and stored", async () => {
      const metrics = await this.metrics();
      return sumOf(metrics, "trivium_calls_in_flight") + sumOf(metrics, "trivium_ledger_queue_rows") === 0;
    });
  }

  async #send({ dialect, model, key, stream, tags, prompt, leaves }: PlannedCall): Promise<void> {
    this.sent += 1;
    const abort = new AbortController();
    const body =
      dialect === "genai"
        ? { contents: [{ role: "user", parts: [{ text: prompt }] }] }
        : { messages: [{ role: "user", content: prompt }] };
    const headers: Record<string, string> = tags.length === 0 ? {} : { "x-trivium-tags": tags.join(",") };
    const options = { model, stream, body, headers, signal: abort.signal };
    const answer = await fetch(...buildCall(this.gateway.url, dialect, this.keys[key]?.key ?? "", options));
    if (!leaves) return void (await answer.text());
    await answer.body?.getReader().read();
    abort.abort();
  }

  async metrics(): Promise<ReadSample[]> {
    return readMetrics(await this.ask("/metrics"));
  }

  /** What the Admin API answers. */
  async ask(path: string, query: Readonly<Record<string, string>> = {}): Promise<string> {
    const { adminUrl, adminSecret } = this.gateway;
    const answer = await fetch(`${adminUrl}${path}?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${adminSecret}` },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  }

  /** All rows of the ledger, as the storage has them. */
  async stored(): Promise<(CountedReceipt & { instance: string })[]> {
    const rows = await this.storage.query("SELECT * FROM receipts ORDER BY id");
    return rows.map((row) => ({
      ...countReceipt(
        { ...row, key: row["key_id"], created_at: new Date(Number(row["created_at_ms"])).toISOString() },
        Object.fromEntries(COUNTERS.map((counter) => [counter, row[`usage_${counter}`]])),
        JSON.parse(String(row["tags"] ?? "[]")) as string[],
      ),
      instance: String(row["instance"]),
    }));
  }
}

export const receiptIdAt = (ms: number, rest: string | number): string => RECEIPT_PREFIX + timePrefix(ms) + rest;

/** Receipts of an earlier time and of other processes: of media, corrections, and calls that took long. */
export function drawHistory(draw: Draw, count: number, range: { fromMs: number; toMs: number }): Receipt[] {
  return Array.from({ length: count }, (_, index) => {
    const createdAtMs = range.fromMs + draw(range.toMs - range.fromMs);
    const isCorrection = draw(12) === 0;
    const usage = {
      ...(draw(5) === 0 ? {} : { input: draw(5_000), output: draw(900) }),
      ...(draw(4) === 0 ? { imageInput: draw(700), imageOutput: draw(4_000), images: 1 + draw(4) } : {}),
      ...(draw(4) === 0 ? { audioInput: draw(300), audioOutput: draw(300), seconds: draw(40) / 4 } : {}),
      ...(draw(6) === 0 ? { cacheWrite1h: draw(800), searches: draw(3), characters: draw(2_000) } : {}),
    };
    const {
      tags: _tags,
      endUser: _user,
      ...receipt
    } = sampleReceipt({
      id: receiptIdAt(createdAtMs, `${draw(1e9)}-${index}`),
      createdAtMs,
      project: oneOf(draw, ["red", "green", "old"]),
      key: `key_${draw(3)}`,
      model: oneOf(draw, [...LOAD_MODELS, '=HYPERLINK("http://x")', "odd, name"]),
      provider: oneOf(draw, ["at-chat", "at-messages", "gone"]),
      clientDialect: oneOf(draw, ["chat", "messages", "genai", "responses"]),
      outcome: oneOf(draw, ["ok", "ok", "client_gone", "upstream_failed", "content_blocked"]),
      usage: isCorrection ? {} : usage,
      costNanoUsd: isCorrection ? draw(1_000_000) - 500_000 : draw(1_000_000_000),
      instance: "instance_of_before",
      ...(isCorrection ? { adjusts: "rcp_other" } : {}),
    });
    const tags = LOAD_TAGS.filter(() => draw(3) === 0);
    const endUser = oneOf(draw, ["ana", "=ben", undefined]);
    return withoutAbsent({ ...receipt, tags: tags.length === 0 ? undefined : tags, endUser });
  });
}
