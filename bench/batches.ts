/**
 * `npm run bench:batches`: a large batch, and calls of a client next to it. Prints how long each phase takes, the memory of the
 * gateway before and at its highest, and the time of the calls, compared with the same calls before and after the batch.
 *
 * Options: --lines N (default 100000), --concurrent N (batch.max_concurrent, default 32), --latency MS of the provider (default
 * 50), --rate N calls a second (default 40), --alone SECONDS of calls without a batch, before and after (default 15),
 * --store sqlite|postgres.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { TRIVIUM } from "../conformance/support/program.ts";
import { freePort } from "../testing/free-port.ts";
import { startPostgres } from "../testing/postgres.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { cpuSeconds, residentMegabytes } from "./proc.ts";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "100000" },
    concurrent: { type: "string", default: "32" },
    latency: { type: "string", default: "50" },
    rate: { type: "string", default: "40" },
    alone: { type: "string", default: "15" },
    store: { type: "string", default: "sqlite" },
  },
});
const [lines, aloneMs] = [Number(values.lines), Number(values.alone) * 1000];
const MAX_MINUTES = 40;

const folder = mkdtempSync(join(tmpdir(), "trivium-bench-batches-"));
const postgres = values.store === "postgres" ? await startPostgres() : undefined;
const provider = Bun.spawn([process.execPath, join(import.meta.dir, "batch-provider.child.ts"), values.latency], {
  stdout: "pipe",
  stderr: "inherit",
});
const reader = provider.stdout.getReader();
const port = Number(new TextDecoder().decode((await reader.read()).value));
const url = `http://127.0.0.1:${freePort()}`;
writeFileSync(
  join(folder, "trivium.yaml"),
  JSON.stringify({
    server: { port: Number(new URL(url).port) },
    admin: { port: freePort(), secret: "bench-admin-secret-0123456789" },
    simulator: false,
    log: { calls: "off" },
    keys: [{ name: "bench", key: TEST_KEY }],
    batch: { max_concurrent: Number(values.concurrent) },
    ...(postgres && { storage: postgres.url }),
    ...scriptedModels(`http://127.0.0.1:${port}`, { first_byte: 30_000, idle: 30_000 }),
  }),
);
const gateway = Bun.spawn([TRIVIUM, "serve", "--workers", "1"], { cwd: folder, stdout: "ignore", stderr: "inherit" });
const authorization = `Bearer ${TEST_KEY}`;
const asJson = { authorization, "content-type": "application/json" };

const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200;
const body = JSON.stringify({ model: "test/chat", messages: [{ role: "user", content: "A call of a client." }] });

type Phase = "before" | "checking" | "running" | "writing" | "after";
const times: Record<Phase, number[]> = { before: [], checking: [], running: [], writing: [], after: [] };
let phase: Phase = "before";
let [failures, highest, isOver] = [0, 0, false];

/** Calls at a constant rate, whether earlier ones are answered or not. */
async function call(): Promise<void> {
  const [began, during] = [performance.now(), phase];
  const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers: asJson, body });
  await answer.arrayBuffer();
  if (answer.status !== 200) failures++;
  times[during].push(performance.now() - began);
}

async function callSteadily(): Promise<void> {
  const everyMs = 1000 / Number(values.rate);
  const began = performance.now();
  for (let count = 0; !isOver; count++) {
    const waitMs = began + count * everyMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    void call().catch(() => failures++);
    if (count % 10 === 0) highest = Math.max(highest, residentMegabytes([gateway.pid]));
  }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
const sorted = (...lists: readonly number[][]): number[] => lists.flat().sort((one, other) => one - other);
const show = (list: readonly number[]): string =>
  `p50 ${at(list, 0.5).toFixed(1)} ms, p99 ${at(list, 0.99).toFixed(1)} ms (${list.length} calls)`;

interface ShownBatch {
  id: string;
  status: string;
  request_counts: { total: number; completed: number; failed: number };
}

async function createBatch(): Promise<string> {
  const line = (index: number) => ({
    custom_id: `line-${index}`,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "test/chat", messages: [{ role: "user", content: `Line ${index} of a batch.` }] },
  });
  const form = new FormData();
  const input = Array.from({ length: lines }, (_, index) => JSON.stringify(line(index))).join("\n");
  form.append("file", new Blob([input]), "in.jsonl");
  form.append("purpose", "batch");
  const uploaded = await fetch(`${url}/v1/files`, { method: "POST", headers: { authorization }, body: form });
  const { id } = (await uploaded.json()) as { id: string };
  const wanted = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" };
  const made = await fetch(`${url}/v1/batches`, { method: "POST", headers: asJson, body: JSON.stringify(wanted) });
  return ((await made.json()) as ShownBatch).id;
}

try {
  while (!(await isReady())) await Bun.sleep(50);
  const calling = callSteadily();
  // The first calls compile the program.
  await Bun.sleep(5_000);
  times.before = [];
  await Bun.sleep(aloneMs);
  const [rss, cpu] = [residentMegabytes([gateway.pid]), cpuSeconds([gateway.pid])];
  highest = rss;
  const id = await createBatch();
  phase = "checking";
  const began = performance.now();
  const took: Partial<Record<Phase, number>> = {};
  let since = began;
  let batch: ShownBatch;
  for (;;) {
    const shown = await fetch(`${url}/v1/batches/${id}`, { headers: { authorization } });
    batch = (await shown.json()) as ShownBatch;
    const { completed, failed } = batch.request_counts;
    const isRun = completed + failed === lines;
    const now: Phase =
      batch.status === "validating"
        ? "checking"
        : ["completed", "failed"].includes(batch.status)
          ? "after"
          : isRun
            ? "writing"
            : "running";
    if (now !== phase) {
      took[phase] = (performance.now() - since) / 1000;
      since = performance.now();
      phase = now;
    }
    if (phase === "after") break;
    if (performance.now() - began > MAX_MINUTES * 60_000) throw new Error("the batch takes too long");
    await Bun.sleep(1_000);
  }
  const seconds = (performance.now() - began) / 1000;
  const spentCpu = cpuSeconds([gateway.pid]) - cpu;
  const [most, rssAfter] = [highest, residentMegabytes([gateway.pid])];
  await Bun.sleep(aloneMs);
  isOver = true;
  await calling;
  const { before, checking, running, writing, after } = times;
  const [alone, beside] = [sorted(before, after), sorted(checking, running, writing)];
  console.log(
    `${values.store}, ${lines} lines, ${values.concurrent} at once, provider ${values.latency} ms: ${batch.status}`,
  );
  console.log(JSON.stringify(batch.request_counts));
  console.log(`time ${seconds.toFixed(0)} s, ${(lines / seconds).toFixed(0)} lines/s, ${spentCpu.toFixed(0)} s of CPU`);
  for (const [name, each] of Object.entries(took)) console.log(`  ${name} ${each.toFixed(1)} s`);
  console.log(`memory before ${rss.toFixed(0)} MB, highest ${most.toFixed(0)} MB, after ${rssAfter.toFixed(0)} MB`);
  console.log(`calls alone:          ${show(alone)}`);
  console.log(`calls next to it:     ${show(beside)}`);
  for (const name of ["before", "checking", "running", "writing", "after"] as const)
    console.log(`  ${name.padEnd(10)} ${show(sorted(times[name]))}`);
  console.log(`p99: ${(at(beside, 0.99) / at(alone, 0.99)).toFixed(2)} times; ${failures} calls failed`);
} finally {
  isOver = true;
  gateway.kill("SIGTERM");
  await gateway.exited;
  provider.kill();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
