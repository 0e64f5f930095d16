/**
 * `npm run simulate -- --seed 1 --calls 1000`: runs the gateway against a world drawn from a seed, in memory. The same
 * seed gives the same run. A seed that breaks a rule is reduced to a minimal run, printed and saved to a file.
 *
 * `--seed` (random by default), `--calls` per seed, `--seeds` from that one on, `--processes` in parallel, `--replay
 * <file>` of a reduced run, `--trace` to print every event, `--until-broken` to stop at the first failing seed.
 * `--tiny-limits` runs several instances that share limits of a few calls, `--instances` of them. `--keys` runs them with
 * so many limited keys.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readConfiguration } from "./configuration.ts";
import { drawScenario } from "./draw-scenario.ts";
import { RECOVERY_CALLS } from "./final-checks.ts";
import { playManyKeys } from "./many-keys.ts";
import { type RunResult, runScenario } from "./run-scenario.ts";
import type { Scenario } from "./scenario.ts";
import { shrink } from "./shrink.ts";
import { Tally } from "./tally.ts";
import { playTinyLimits } from "./tiny-limits.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "1" },
    calls: { type: "string", default: "1000" },
    processes: { type: "string", default: "1" },
    replay: { type: "string" },
    trace: { type: "boolean", default: false },
    "until-broken": { type: "boolean", default: false },
    "tiny-limits": { type: "boolean", default: false },
    instances: { type: "string" },
    keys: { type: "string" },
  },
});

/** Time between two lines of a long run. */
const PROGRESS_MS = 10_000;

/** Steps of a reduced run to print; its file has all of them. */
const MAX_SHOWN = 40;
/** Calls at the end of every run, when everything is healthy again. */
const RECOVERY = `call ${String(RECOVERY_CALLS).slice(0, 6)}`;

const config = readConfiguration();
const tally = new Tally();

function show({ violations, trace }: RunResult): void {
  if (trace !== undefined) console.log(trace.filter((line) => values.trace || !line.includes(RECOVERY)).join(""));
  for (const { rule, what, call } of violations) {
    console.log(`BROKEN: ${rule}${call === undefined ? "" : ` (call ${call})`}: ${what}`);
  }
}

/** Reduces the failing run, prints and saves it. */
async function explain(scenario: Scenario, result: RunResult): Promise<void> {
  const rule = result.violations[0]?.rule ?? "";
  const small = await shrink(scenario, rule, (one) => runScenario(one, { config }));
  const file = join(mkdtempSync(join(tmpdir(), "trivium-simulation-")), `seed-${scenario.seed}.json`);
  writeFileSync(file, JSON.stringify(small, undefined, 1));
  console.log(`\nseed ${scenario.seed} cut down to ${small.steps.length} of ${scenario.steps.length} steps:`);
  for (const step of small.steps.slice(0, MAX_SHOWN)) console.log(JSON.stringify(step));
  show(await runScenario(small, { config, keepsTrace: true }));
  console.log(`replay: npm run simulate -- --replay ${file}`);
}

async function playSeeds(first: number, seeds: number, calls: number): Promise<void> {
  let toldMs = performance.now();
  for (let seed = first; seed < first + seeds; seed++) {
    const scenario = drawScenario({ seed, calls });
    const result = await runScenario(scenario, { config, keepsTrace: values.trace });
    tally.add(result);
    if (values.trace || seeds === 1) show(result);
    if (seeds === 1) console.log(`seed ${seed}: ${result.digest}`);
    const [violation] = result.violations;
    if (violation && values["until-broken"]) {
      console.log(`found after ${tally.calls} calls: ${violation.rule}: ${violation.what}`);
      return;
    }
    if (violation) {
      console.log(`\nseed ${seed} failed: npm run simulate -- --seed ${seed} --calls ${calls}`);
      show({ ...result, trace: undefined });
      await explain(scenario, result);
    }
    if (performance.now() - toldMs > PROGRESS_MS) {
      toldMs = performance.now();
      console.log(`${seed - first + 1} of ${seeds} seeds, ${tally.calls} calls, ${tally.failedSeeds} seeds failed`);
    }
  }
}

/** Several instances that share limits of a few calls must admit what one process admits. */
async function playInstances(first: number, seeds: number): Promise<boolean> {
  const instances = values.instances === undefined ? undefined : Number(values.instances);
  const seen = { admitted: 0, refused: 0, failed: 0 };
  for (let seed = first; seed < first + seeds; seed++) {
    const { broken, admitted, refused } = await playTinyLimits(seed, instances);
    seen.admitted += admitted;
    seen.refused += refused;
    if (broken.length === 0) continue;
    seen.failed++;
    const given = instances === undefined ? "" : ` --instances ${instances}`;
    console.log(`\nseed ${seed} failed: npm run simulate -- --tiny-limits${given} --seed ${seed}`);
    for (const what of broken) console.log(`BROKEN: ${what}`);
    if (!values["until-broken"]) continue;
    console.log(`found after ${seen.admitted + seen.refused} calls: several instances admit what one does`);
    break;
  }
  console.log(`${seeds} seeds: ${seen.admitted} calls admitted, ${seen.refused} refused, ${seen.failed} seeds failed`);
  return seen.failed === 0;
}

/** Many instances with many keys: what reaches the source of their limits, and whether the laws hold. */
async function playKeys(seed: number, keys: number, calls: number): Promise<boolean> {
  const instances = Number(values.instances ?? 8);
  const { broken, admitted, refused, longestMs, windows, phases } = await playManyKeys({
    seed,
    instances,
    keys,
    calls,
  });
  for (const { name, seconds, messages, claims, levels, notified } of phases) {
    const shown = { messages, claims, levels, notified };
    const rates = Object.entries(shown).map(([what, rate]) => `${rate.toFixed(1)} ${what}`);
    console.log(`${name}, ${seconds.toFixed(1)} s: per second ${rates.join(", ")}`);
  }
  console.log(
    `seed ${seed}: ${instances} instances, ${keys} keys, ${windows} limits in use; ${admitted} calls admitted, ${refused} refused, the longest wait ${longestMs} ms`,
  );
  for (const what of broken) console.log(`BROKEN: ${what}`);
  return broken.length === 0;
}

/** The same in several processes, each with its share of the seeds. */
async function playInProcesses(first: number, seeds: number, processes: number): Promise<void> {
  const share = Math.ceil(seeds / processes);
  const starts = Array.from({ length: processes }, (_, index) => first + index * share);
  const children = starts.map((start) => {
    const count = Math.min(share, first + seeds - start);
    const options = ["--seed", String(start), "--seeds", String(count), "--calls", values.calls];
    return Bun.spawn([process.execPath, import.meta.path, ...options], {
      stdout: "inherit",
      stderr: "inherit",
      ipc: (told) => tally.join(told as Tally),
    });
  });
  for (const child of children) await child.exited;
}

async function main(): Promise<number> {
  if (values.replay !== undefined) {
    const scenario = JSON.parse(readFileSync(values.replay, "utf8")) as Scenario;
    const result = await runScenario(scenario, { config, keepsTrace: true });
    show(result);
    console.log(result.digest);
    return result.violations.length === 0 ? 0 : 1;
  }
  const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const [seeds, calls, processes] = [Number(values.seeds), Number(values.calls), Number(values.processes)];
  if (values.keys !== undefined) return (await playKeys(first, Number(values.keys), calls)) ? 0 : 1;
  if (values["tiny-limits"]) return (await playInstances(first, seeds)) ? 0 : 1;
  if (processes > 1) await playInProcesses(first, seeds, processes);
  else await playSeeds(first, seeds, calls);
  tally.addCpu(process.cpuUsage());
  if (process.send) process.send(tally);
  else console.log(tally.text());
  const missing = values["until-broken"] ? 0 : seeds - tally.seeds;
  if (missing > 0) console.log(`${missing} seeds were not played: a process ended before them`);
  return tally.failedSeeds + missing === 0 ? 0 : 1;
}

process.exit(await main());
