/**
 * Providers fail, and clients notice nothing: steady traffic over three providers of one model, of which one is killed
 * and restarted, then one stalls, then one refuses. `npm run failover -- --seconds 60 --rate 200`. Every call must be
 * answered completely; latencies are printed next to those of direct calls in the same run. Exit code 1 if a call
 * failed.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { type Child, Processes, printedUrl } from "../../bench/processes.ts";
import { quantile } from "../../bench/statistics.ts";
import type { CallResult, ProviderMode, Traffic } from "./traffic.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, rate: { type: "string", default: "200" } },
});
const seconds = Number(values.seconds);
const perSecond = Number(values.rate);

const KEY = `sk-trv-${"failover-".repeat(5).slice(0, 43)}`;
const NAMES = ["first", "second", "third"] as const;
const DIRECT_SECONDS = 5;
const here = (file: string) => new URL(file, import.meta.url).pathname;
const program = here("../../bin/trivium");

const folder = mkdtempSync(join(tmpdir(), "trivium-failover-"));
const processes = new Processes();

const startProvider = (name: string, port = "0"): Promise<Child> =>
  processes.start({
    name,
    command: [process.execPath, here("provider.child.ts"), name, port],
    findUrl: printedUrl,
  });

function startGateway(urls: readonly string[]): Promise<Child> {
  const file = join(folder, "trivium.yaml");
  const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
  const configuration = {
    server: { host: "127.0.0.1", port: 0, drain_seconds: 0 },
    admin: { host: "127.0.0.1", port: 0 },
    data_dir: join(folder, "data"),
    simulator: false,
    routing: { type: "round_robin", survive: true, breaker: { open_ms: 1_000 } },
    providers: Object.fromEntries(
      NAMES.map((name, index) => [
        name,
        {
          kind: "openai-compatible",
          base_url: `${urls[index]}/v1`,
          api_key: `key-of-${name}`,
          timeout_ms: { first_byte: 1_000, content: 1_000 },
        },
      ]),
    ),
    models: [
      {
        id: "acme/model",
        pricings: { prompt: price(1), completion: price(2) },
        offers: NAMES.map((provider) => ({ provider, model: "upstream-model", prefill: true })),
      },
    ],
    keys: [{ name: "failover", key: KEY }],
  };
  writeFileSync(file, stringify(configuration));
  return processes.start({
    name: "the gateway",
    command: [program, "serve", "--workers", "1", "--config", file, "--json"],
    findUrl: printedUrl,
  });
}

const setMode = (provider: Child, mode: ProviderMode) => fetch(`${provider.url}/mode`, { method: "POST", body: mode });

async function traffic(clients: Child, job: Omit<Traffic, "key" | "perSecond">): Promise<CallResult[]> {
  const whole: Traffic = { key: KEY, perSecond, ...job };
  const answer = await fetch(clients.url, { method: "POST", body: JSON.stringify(whole), signal: null });
  return (await answer.json()) as CallResult[];
}

/** Direct clients of a provider can only use its own protocol. */
async function direct(provider: Child): Promise<number[]> {
  const times: number[] = [];
  const one = async (index: number) => {
    const startedMs = performance.now();
    const body = JSON.stringify({ stream: index % 2 === 0, messages: [] });
    await (await fetch(`${provider.url}/v1/chat/completions`, { method: "POST", body })).text();
    times.push(performance.now() - startedMs);
  };
  const running: Promise<void>[] = [];
  for (let index = 0; index < perSecond * DIRECT_SECONDS; index++) {
    running.push(one(index));
    await Bun.sleep(1000 / perSecond);
  }
  await Promise.all(running);
  return times;
}

interface Phase {
  name: string;
  fromMs: number;
  untilMs: number;
}

/** Five equal parts of the run: one fault after another, with time to recover in between. */
async function makeFaults(providers: readonly [Child, Child, Child], forMs: number): Promise<Phase[]> {
  const [first, second, third] = providers;
  const phases: Phase[] = [];
  const startedMs = performance.now();
  const phase = async (name: string, begin: () => Promise<unknown>) => {
    const fromMs = performance.now() - startedMs;
    await begin();
    const untilMs = ((phases.length + 1) * forMs) / 5;
    await Bun.sleep(untilMs - (performance.now() - startedMs));
    phases.push({ name, fromMs, untilMs });
  };
  await phase("all answer", async () => {});
  await phase("the first is killed", async () => process.kill(first.pids[0] ?? 0, "SIGKILL"));
  await phase("the first is back, the second stalls", async () => {
    await startProvider("first", new URL(first.url).port);
    await setMode(second, "stall");
  });
  await phase("the second is back, the third answers 429", async () => {
    await setMode(second, "answer");
    await setMode(third, "refuse");
  });
  await phase("all answer again", async () => setMode(third, "answer"));
  return phases;
}

const shown = (ms: number) => `${ms.toFixed(1).padStart(8)} ms`;

function tell(name: string, results: readonly CallResult[], directMs: readonly number[]): void {
  const times = results.map(({ ms }) => ms);
  const failed = results.filter(({ failure }) => failure !== undefined).length;
  const ratio = quantile(times, 0.99) / quantile(directMs, 0.99);
  const cells = [
    name.padEnd(44),
    String(results.length).padStart(6),
    String(failed).padStart(6),
    shown(quantile(times, 0.5)),
    shown(quantile(times, 0.99)),
    `${ratio.toFixed(2).padStart(7)} ×`,
  ];
  console.log(cells.join("  "));
}

async function run(clients: Child, gateway: Child, providers: [Child, Child, Child], hedge: boolean): Promise<number> {
  const directMs = await direct(providers[2]);
  const headers: Record<string, string> = hedge ? { "x-trivium-hedge": "true" } : {};
  const [results, phases] = await Promise.all([
    traffic(clients, { url: gateway.url, seconds, headers }),
    makeFaults(providers, seconds * 1000),
  ]);
  console.log(
    `\n${hedge ? "hedged" : "fallback only"}${" ".repeat(30)}   calls  failed       p50          p99     p99 / direct`,
  );
  tell(
    "direct, one provider",
    directMs.map((ms) => ({ atMs: 0, ms })),
    directMs,
  );
  for (const { name, fromMs, untilMs } of phases) {
    tell(
      name,
      results.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs),
      directMs,
    );
  }
  tell("all together", results, directMs);
  const failures = results.filter(({ failure }) => failure !== undefined);
  for (const { atMs, failure } of failures.slice(0, 5)) console.log(`  failed at ${Math.round(atMs)} ms: ${failure}`);
  return failures.length;
}

try {
  const clients = await processes.start({
    name: "the clients",
    command: [process.execPath, here("clients.child.ts")],
    findUrl: printedUrl,
  });
  let failed = 0;
  for (const hedge of [false, true]) {
    const providers: [Child, Child, Child] = [
      await startProvider("first"),
      await startProvider("second"),
      await startProvider("third"),
    ];
    const gateway = await startGateway(providers.map(({ url }) => url));
    failed += await run(clients, gateway, providers, hedge);
    await gateway.stop();
  }
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await processes.stopAll();
  rmSync(folder, { recursive: true });
}
