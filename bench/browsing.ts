/**
 * `bin/bun bench/browsing.ts [--rows 1000000] [--rate 100] [--seconds 15] [--rounds 3]`: what calls take at a
 * fixed rate without anyone at the console, and while its pages are opened one after the other without a pause, with a full ledger.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createKey } from "../src/access/keys.ts";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import { type ConsolePage, consolePages } from "./console-pages.ts";
import { fillReceipts } from "./fill-receipts.ts";
import { API_KEY, startGateway } from "./gateway.ts";
import { cpuSeconds, machineBusySeconds } from "./proc.ts";
import { Processes, printedUrl } from "./processes.ts";
import { quantile } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    rate: { type: "string", default: "100" },
    seconds: { type: "string", default: "15" },
    rounds: { type: "string", default: "3" },
  },
});
const DAYS = 30;
const DAY_MS = 86_400_000;
const KEYS = 50;
const TARGET_MS = 200;
const OPENINGS = 5;
const SECRET = "bench-admin-secret-0123456789";
const folder = mkdtempSync(join(tmpdir(), "trivium-browsing-"));
const processes = new Processes();

/** Requests that were refused. */
const refused = new Set<string>();

/** How long each page took, by its name. */
type PageTimes = Map<string, { page: number[]; requests: Map<string, number[]> }>;

async function fill(): Promise<string> {
  const nowMs = Date.now();
  mkdirSync(join(folder, "data"), { recursive: true });
  const storage = await openStorage(`sqlite:${join(folder, "data/trivium.db")}`, system.clock);
  for (let key = 0; key < KEYS; key++) {
    await createKey(storage, { name: `key ${key}`, project: "default" }, system, { who: "bench" });
  }
  const range = { rows: Number(values.rows), fromMs: nowMs - DAYS * DAY_MS, toMs: nowMs };
  const beganMs = performance.now();
  await fillReceipts(storage, range);
  console.log(`${values.rows} receipts of ${DAYS} days in ${((performance.now() - beganMs) / 1000).toFixed(0)} s`);
  const [last] = await storage.query("SELECT MAX(id) AS id FROM receipts");
  await storage.close();
  return String(last?.["id"]);
}

const calls = async (url: string): Promise<number[]> => {
  const program = new URL("paced-calls.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, program, url, API_KEY, values.rate, values.seconds], { stdout: "pipe" });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("calls failed");
  return JSON.parse(text) as number[];
};

async function timed(adminUrl: string, request: string): Promise<number> {
  const beganMs = performance.now();
  const answer = await fetch(adminUrl + request, { headers: { authorization: `Bearer ${SECRET}` } });
  const text = await answer.text();
  // A report that would read too much is refused, which the page shows.
  if (answer.status === 400 && text.includes("the most that a report reads")) refused.add(request);
  else if (!answer.ok) throw new Error(`${request}: ${answer.status} ${text.slice(0, 300)}`);
  return performance.now() - beganMs;
}

/** Opens page after page until `isOver`, at least each once. */
async function browse(
  adminUrl: string,
  pages: readonly ConsolePage[],
  isOver: () => boolean,
  times: PageTimes,
): Promise<number> {
  let opened = 0;
  while (!isOver() || opened < pages.length) {
    const page = pages[opened % pages.length];
    if (page === undefined) break;
    const known = times.get(page.name) ?? { page: [], requests: new Map<string, number[]>() };
    times.set(page.name, known);
    const beganMs = performance.now();
    await Promise.all(
      page.requests.map(async (request) => {
        const ms = await timed(adminUrl, request);
        known.requests.set(request, [...(known.requests.get(request) ?? []), ms]);
      }),
    );
    known.page.push(performance.now() - beganMs);
    opened += 1;
  }
  return opened;
}

const shown = (ms: number, digits = 1): string => ms.toFixed(digits).padStart(8);
const say = (what: string, times: readonly number[]): void =>
  console.log(
    `${what.padEnd(26)} ${times.length} calls  p50 ${shown(quantile(times, 0.5), 2)} ms  p95 ${shown(quantile(times, 0.95), 2)} ms  p99 ${shown(quantile(times, 0.99), 2)} ms  worst ${shown(Math.max(...times))} ms`,
  );

/** Processor time of the gateway for one opening of each page, while nothing else is asked. It depends less than times do on what else a machine does. */
async function processorTimes(adminUrl: string, pages: readonly ConsolePage[], pids: readonly number[]) {
  const found = new Map<string, number>();
  for (const page of pages) {
    const before = cpuSeconds(pids);
    for (let opened = 0; opened < OPENINGS; opened++) await browse(adminUrl, [page], () => true, new Map());
    found.set(page.name, ((cpuSeconds(pids) - before) * 1000) / OPENINGS);
  }
  return found;
}

function sayPages(times: PageTimes, processor: ReadonlyMap<string, number>): void {
  console.log(`\n${"page".padEnd(34)} CPU         median      p95    worst ms`);
  for (const [name, { page }] of times) {
    const mark = quantile(page, 0.95) > TARGET_MS ? "  over" : "";
    console.log(
      `${name.padEnd(34)}  ${shown(processor.get(name) ?? Number.NaN, 0)} ${shown(median(page))} ${shown(quantile(page, 0.95))} ${shown(Math.max(...page))}${mark}`,
    );
  }
  const requests = [...times.values()].flatMap(({ requests }) => [...requests]);
  const slowest = requests.toSorted(([, one], [, other]) => median(other) - median(one)).slice(0, 8);
  console.log("\nslowest requests, median ms");
  for (const [request, all] of slowest) console.log(`${shown(median(all))}  ${request}`);
  for (const request of refused) console.log(`refused: ${request}`);
}
const median = (times: readonly number[]): number => quantile(times, 0.5);

try {
  const receiptId = await fill();
  const upstream = await processes.start({
    name: "the upstream",
    command: [process.execPath, new URL("upstream.ts", import.meta.url).pathname],
    findUrl: printedUrl,
  });
  const probe = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = probe.port ?? 0;
  await probe.stop(true);
  const adminUrl = `http://127.0.0.1:${port}`;
  const gateway = await startGateway(processes, folder, upstream.url, { admin: { port, secret: SECRET } });
  const pages = consolePages(Date.now(), receiptId);
  await browse(adminUrl, pages, () => true, new Map());
  await calls(gateway.url);
  const [quiet, busy]: [number[], number[]] = [[], []];
  const times: PageTimes = new Map();
  let opened = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    const [startMs, others, own] = [performance.now(), machineBusySeconds(), processes.cpuSeconds()];
    quiet.push(...(await calls(gateway.url)));
    let isOver = false;
    const browsing = browse(adminUrl, pages, () => isOver, times);
    busy.push(...(await calls(gateway.url).finally(() => (isOver = true))));
    opened += await browsing;
    const seconds = (performance.now() - startMs) / 1000;
    const foreign = (machineBusySeconds() - others - (processes.cpuSeconds() - own)) / seconds;
    console.log(`round ${round + 1}: other programs used ${foreign.toFixed(1)} processors`);
  }
  console.log(`\n${values.rate} calls a second, ${opened} pages opened meanwhile`);
  say("without browsing", quiet);
  say("while browsing", busy);
  sayPages(times, await processorTimes(adminUrl, pages, gateway.pids));
} finally {
  await processes.stopAll();
  rmSync(folder, { recursive: true, force: true });
}
