import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../../src/base/system.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { readReceipts } from "../../src/ledger/receipt-pages.ts";
import { openStorage } from "../../src/storage/open.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway } from "../support/client-calls.ts";
import { TRIVIUM } from "../support/program.ts";
import { sendJson, sleep, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { freePort, TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const CLIENTS = 6;
const CALLS_A_RUN = 300;
const START_MS = 60_000;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

interface CrashOptions {
  /** A database that was never used; SQLite in the run's own folder where there is none. */
  storageUrl?: string;
  runs: number;
  seed: number;
}

export interface CrashReport {
  asked: number;
  answered: number;
  /** Calls of which a request has reached the provider. */
  reached: number;
  rows: number;
  interrupted: number;
  /** Calls that have reached the provider, or were answered, of which there is no row. */
  missing: string[];
  /** Calls that were answered whole, and are no receipt. */
  unsettled: string[];
  twice: number;
  wrongSums: number;
}

/**
 * A gateway with `ledger.intents` under load is killed with SIGKILL at a random moment, again and again. Each call has a key of its
 * own, which its prompt names, so that the provider and the rows tell of the same calls.
 */
export async function crashWithIntents({ storageUrl, runs, seed }: CrashOptions): Promise<CrashReport> {
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
  const [port, adminPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const answered: string[] = [];
  let asked = 0;
  const configure = (run: number) =>
    writeFileSync(
      join(folder, "trivium.yaml"),
      JSON.stringify({
        server: { port },
        admin: { port: adminPort, secret: TEST_ADMIN_SECRET },
        storage,
        ledger: { intents: true },
        simulator: false,
        log: { calls: "off" },
        keys: Array.from({ length: CALLS_A_RUN }, (_, call) => ({ name: nameOf(run, call), key: keyOf(run, call) })),
        ...withMedia(scriptedModels(upstream.url)),
      }),
    );

  try {
    for (let run = 1; run <= runs; run += 1) {
      configure(run);
      const child = await start(folder, url);
      let [isOver, next] = [false, 0];
      const client = async () => {
        while (!isOver && next < CALLS_A_RUN) {
          const call = next++;
          asked += 1;
          const isWhole = await send(url, keyOf(run, call), nameOf(run, call), draw(5)).catch(() => false);
          if (isWhole) answered.push(nameOf(run, call));
        }
      };
      const clients = Array.from({ length: CLIENTS }, client);
      await sleep(20 + draw(500));
      // On a slow machine no call may have come as far as the provider by then, in any of the runs.
      for (const untilMs = performance.now() + START_MS; run === runs && reached.size === 0; await sleep(5)) {
        if (performance.now() > untilMs) throw new Error("No call has reached the provider.");
      }
      child.kill("SIGKILL");
      await child.exited;
      isOver = true;
      await Promise.all(clients);
    }
    const last = await start(folder, url);
    last.kill("SIGTERM");
    await last.exited;
    return { asked, answered: answered.length, ...(await compare(storage, reached, answered)) };
  } finally {
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

/** Whether the client had its whole answer: text, a stream, an answer in the background, an image or an embedding. */
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
  // An answer in the background is made later.
  return kind !== 2 && text !== "";
}

async function start(folder: string, url: string): Promise<Bun.Subprocess> {
  const child = Bun.spawn([TRIVIUM, "serve"], { cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const untilMs = performance.now() + START_MS;
  for (;;) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined);
    if (ready?.status === 200) return child;
    if (performance.now() > untilMs || child.exitCode !== null) throw new Error("The gateway did not start.");
    await sleep(20);
  }
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
      interrupted: named.filter(({ outcome }) => outcome === "interrupted").length,
      missing: [...new Set([...reached, ...answered])].filter((name) => !known.has(name)),
      unsettled: answered.filter((name) => !settled.has(name)),
      twice: rows.length - new Set(rows.map(({ id }) => id)).size + (rows.length - known.size),
      wrongSums: (await checkRollUps(storage)).differences.length,
    };
  } finally {
    await storage.close();
  }
}
