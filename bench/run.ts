/** `npm run bench`: the gateway compared with a bare proxy and nginx, in one run. See README.md in this folder. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { withoutAbsent } from "../src/base/without-absent.ts";
import { Contenders } from "./contenders.ts";
import { API_KEY } from "./gateway.ts";
import { LoadControl } from "./load-control.ts";
import { hasProc, machineBusySeconds } from "./proc.ts";
import { Processes, printedUrl } from "./processes.ts";
import type { Bench, Row, Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios/index.ts";
import { formatTable } from "./table.ts";
import { UpstreamControl } from "./upstream-control.ts";

interface ScenarioResult {
  id: string;
  title: string;
  seconds: number;
  /** CPUs used by other programs during the run. */
  otherLoad: number;
  rows: Row[];
  failure?: string;
}

const here = new URL(".", import.meta.url).pathname;
const say = (text: string) => process.stderr.write(`${text}\n`);

function chosenScenarios(only: string | undefined): readonly Scenario[] {
  if (only === undefined) return SCENARIOS;
  return only.split(",").map((id) => {
    const scenario = SCENARIOS.find((one) => one.id === id.trim());
    if (scenario) return scenario;
    throw new Error(`Unknown scenario "${id}". Known scenarios: ${SCENARIOS.map((one) => one.id).join(", ")}.`);
  });
}

async function runScenario(scenario: Scenario, bench: Bench, processes: Processes): Promise<ScenarioResult> {
  say(`${scenario.id}: ${scenario.title}`);
  const startMs = performance.now();
  const busyBefore = machineBusySeconds() - processes.cpuSeconds();
  const result = { id: scenario.id, title: scenario.title, rows: [] as Row[] };
  let failure: string | undefined;
  try {
    const measured = scenario.run(bench);
    if (measured instanceof Promise) result.rows = await measured;
    else for await (const row of measured) result.rows.push(row);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    say(`FAILED: ${scenario.id}: ${failure}`);
  }
  const seconds = (performance.now() - startMs) / 1000;
  const otherLoad = Math.max(0, (machineBusySeconds() - processes.cpuSeconds() - busyBefore) / seconds);
  return { ...result, seconds, otherLoad, ...withoutAbsent({ failure }) };
}

function startHelper(processes: Processes, program: string, ...options: string[]) {
  const command = [process.execPath, join(here, program), ...options];
  return processes.start({ name: program, command, findUrl: printedUrl });
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      only: { type: "string" },
      before: { type: "string" },
      peers: { type: "string" },
    },
  });
  return { ...values, scenarios: chosenScenarios(values.only) };
}

interface Measured {
  results: readonly ScenarioResult[];
  interrupted: boolean;
}

async function measure(
  scenarios: readonly Scenario[],
  { quick, before, peers }: { quick: boolean; before?: string; peers?: string },
): Promise<Measured> {
  const processes = new Processes();
  const folder = mkdtempSync(join(tmpdir(), "trivium-bench-"));
  const results: ScenarioResult[] = [];
  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
    void processes.stopAll();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  try {
    const upstream = new UpstreamControl((await startHelper(processes, "upstream.ts")).url);
    const load = new LoadControl((await startHelper(processes, "load.ts", API_KEY)).url);
    const contenders = new Contenders(processes, upstream.url, folder, { before, peers });
    if (contenders.nginxMissing) say("Skipping nginx: it is not installed.");
    const bench: Bench = { contenders, load, upstream, quick };
    for (const scenario of scenarios) {
      results.push(await runScenario(scenario, bench, processes));
      if (interrupted) break;
    }
    return { results, interrupted };
  } finally {
    await processes.stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  if (!hasProc()) {
    say("The benchmark reads CPU times and resident sizes from /proc, which this system does not have.");
    return 1;
  }
  let chosen: ReturnType<typeof readArguments>;
  try {
    chosen = readArguments();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 2;
  }
  const startedAt = new Date().toISOString();
  const { results, interrupted } = await measure(chosen.scenarios, chosen);
  report(results, startedAt, chosen.quick, chosen.json);
  if (interrupted) return 130;
  return results.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

function report(results: readonly ScenarioResult[], startedAt: string, quick: boolean, jsonOnly: boolean): void {
  const machine = { processors: cpus().length, model: cpus()[0]?.model, kernel: release(), loadAverage: loadavg() };
  const json = JSON.stringify({ startedAt, quick, bun: Bun.version, machine, scenarios: results }, null, 2);
  const file = join(here, "results", `${startedAt.replace(/[:.]/g, "-")}.json`);
  mkdirSync(join(here, "results"), { recursive: true });
  writeFileSync(file, `${json}\n`);
  if (jsonOnly) {
    console.log(json);
    return;
  }
  console.log(`\n${formatTable(results.flatMap(({ rows }) => rows))}\n`);
  for (const { id, failure } of results) if (failure !== undefined) console.log(`FAILED: ${id}: ${failure}`);
  console.log(
    `CPUs used by other programs: ${results.map((one) => `${one.id} ${one.otherLoad.toFixed(2)}`).join(", ")}.`,
  );
  console.log(`${quick ? "Quick run: not a reliable measurement. " : ""}Written to ${file}`);
}

process.exitCode = await main();
