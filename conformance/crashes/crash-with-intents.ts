import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../../src/base/system.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { readReceipts } from "../../src/ledger/receipt-pages.ts";
import { openStorage } from "../../src/storage/open.ts";
import { freePort } from "../../testing/free-port.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway } from "../support/client-calls.ts";
import { sendJson, sleep, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";
import { CrashingGateway } from "./crashing-gateway.ts";

const CLIENTS = 6;
const CALLS_A_RUN = 300;
/** The maximum number of a run's calls that reach the provider before the kill. */
const MOST_BEFORE = 100;
const REACHED_MS = 60_000;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

interface CrashOptions {
  /** An empty database; SQLite in the run's own folder if absent. */
  storageUrl?: string;
  runs: number;
  seed: number;
  /** 0: one process without any. */
  workers?: number;
}

/** What is killed: one of the workers, the first process, whose workers finish their calls, or all processes at once. */
const VICTIMS = ["worker", "first process", "all"] as const;
type Victim = (typeof VICTIMS)[number];

interface CrashReport {
  /** How often each was killed. */
  kills: Readonly<Record<Victim, number>>;
  asked: number;
  answered: number;
  /** Calls with a request that reached the provider. */
  reached: number;
  rows: number;
  /** Calls that are `pending` or `interrupted`. */
  open: number;
  /** Calls that reached the provider, or were answered, without a row. */
  missing: string[];
  /** Fully answered calls without a receipt. */
  unsettled: string[];
  twice: number;
  wrongSums: number;
}

/**
 * A gateway with `ledger.intents` under load is killed with SIGKILL at a random moment, again and again. Each call has
 * its own key, which its prompt names, so provider and rows can be compared.
 */
export async function crashWithIntents({ storageUrl, runs, seed, workers = 0 }: CrashOptions): Promise<CrashReport> {
  let state = seed;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const folder = mkdtempSync(join(tmpdir(), "trivium-intents-"));
  const storage = storageUrl ?? `sqlite:${join(folder, "data", "trivium.db")}`;
  const upstream = await startScriptedUpstream();
  const reached = new Set<string>();
  upstream.play(async ({ path, body }, response) => {
    const name = /call-\d+-\d+/.exec(body)?.[0];
    if (name !== undefined) reached.add(name);
    await sleep(draw(40));
    if (path.endsWith("/images/generations")) sendJson(response, { created: 1, data: [{ b64_json: PIXEL }] });
    else if (path.endsWith("/embeddings")) sendJson(response, EMBEDDINGS);
    else if (body.includes('"stream":true')) {
      startEvents(response);
      response.end(plainStream("chat", ["Hel", "lo"], plainUsage("chat", 10, 5)));
    } else sendJson(response, plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 10, 5) }));
  });
  mkdirSync(join(folder, "data"));
  const gateway = new CrashingGateway({
    folder,
    workers,
    config: {
      server: { port: freePort() },
      admin: { port: freePort(), secret: TEST_ADMIN_SECRET },
      storage,
      ledger: { intents: true },
      simulator: false,
      log: { calls: "off" },
      ...withMedia(scriptedModels(upstream.url)),
    },
  });
  const keysOf = (run: number) =>
    Array.from({ length: CALLS_A_RUN }, (_, call) => ({ name: nameOf(run, call), key: keyOf(run, call) }));
  const kills = { worker: 0, "first process": 0, all: 0 };
  const answered: string[] = [];
  let asked = 0;

  const crashOnce = async (run: number): Promise<void> => {
    await gateway.start(keysOf(run));
    let [isOver, next] = [false, 0];
    const client = async () => {
      while (!isOver && next < CALLS_A_RUN) {
        const call = next++;
        asked += 1;
        const isWhole = await send(gateway.url, keyOf(run, call), nameOf(run, call), draw(5)).catch(() => false);
        if (isWhole) answered.push(nameOf(run, call));
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    // Counted in calls: the number per second depends on the machine.
    const enough = reached.size + 1 + draw(MOST_BEFORE);
    for (const untilMs = performance.now() + REACHED_MS; reached.size < enough && next < CALLS_A_RUN; await sleep(2)) {
      if (performance.now() > untilMs) throw new Error(`${enough} calls have not reached the provider.`);
    }
    await sleep(draw(20));
    const victim = workers === 0 ? "all" : (VICTIMS[(run - 1) % VICTIMS.length] ?? "all");
    kills[victim] += 1;
    if (victim === "worker") await gateway.killWorker(draw);
    else if (victim === "first process") await gateway.kill();
    else await gateway.killAll();
    isOver = true;
    await Promise.all(clients);
    if (gateway.isRunning) await gateway.stop();
  };

  try {
    for (let run = 1; run <= runs; run += 1) await crashOnce(run);
    await gateway.start();
    await gateway.stop();
    return { kills, asked, answered: answered.length, ...(await compare(storage, reached, answered)) };
  } finally {
    if (gateway.isRunning) await gateway.killAll();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const EMBEDDINGS = {
  object: "list",
  model: "upstream-embeddings",
  data: [{ object: "embedding", index: 0, embedding: [0.1, 0.2] }],
  usage: { prompt_tokens: 3, total_tokens: 3 },
};

const nameOf = (run: number, call: number): string => `call-${run}-${call}`;
const keyOf = (run: number, call: number): string => `sk-trv-${nameOf(run, call)}-`.padEnd(50, "x");

function withMedia(config: Record<string, unknown>): Record<string, unknown> {
  const model = (id: string, upstream: string, output: string[]) => ({
    id,
    display_name: id,
    context_length: 8000,
    max_output_tokens: 100,
    input_modalities: ["text"],
    output_modalities: output,
    pricings: { prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }] },
    offers: [{ provider: "up-chat", model: upstream }],
  });
  const added = [
    model("test/image", "gpt-image-1", ["image"]),
    model("test/embedding", "text-embedding-3-small", ["embeddings"]),
  ];
  return { ...config, models: [...(config["models"] as object[]), ...added] };
}

/** Whether the client had its complete response: text, a stream, a background response, an image or an embedding. */
async function send(url: string, key: string, name: string, kind: number): Promise<boolean> {
  const post = (path: string, body: object) =>
    fetch(`${url}/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const answer = await [
    () => callGateway(url, "chat", key, { body: { messages: [{ role: "user", content: name }] } }),
    () => callGateway(url, "chat", key, { stream: true, body: { messages: [{ role: "user", content: name }] } }),
    () => post("responses", { model: "test/chat", input: name, background: true }),
    () => post("images/generations", { model: "test/image", prompt: name }),
    () => post("embeddings", { model: "test/embedding", input: name }),
  ][kind]?.();
  const text = await answer?.text();
  if (answer?.status !== 200) throw new Error(`${answer?.status}: ${text}`);
  // A background response is made later.
  return kind !== 2 && text !== "";
}

async function compare(url: string, reached: ReadonlySet<string>, answered: readonly string[]) {
  const storage = await openStorage(url, system.clock);
  try {
    const rows = (await Array.fromAsync(readReceipts(storage, {}))).flat();
    const nameOfKey = (key: string) => /call-\d+-\d+/.exec(key)?.[0] ?? key;
    const named = rows.map(({ key, outcome }) => ({ name: nameOfKey(key), outcome }));
    const known = new Set(named.map(({ name }) => name));
    const settled = new Set(named.filter(({ outcome }) => outcome === "ok").map(({ name }) => name));
    return {
      reached: reached.size,
      rows: rows.length,
      open: named.filter(({ outcome }) => outcome === "pending" || outcome === "interrupted").length,
      missing: [...new Set([...reached, ...answered])].filter((name) => !known.has(name)),
      unsettled: answered.filter((name) => !settled.has(name)),
      twice: rows.length - new Set(rows.map(({ id }) => id)).size + (rows.length - known.size),
      wrongSums: (await checkRollUps(storage)).differences.length,
    };
  } finally {
    await storage.close();
  }
}
