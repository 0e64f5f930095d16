import { openMemoryStorage } from "../testing/memory-storage.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { checkKept, checkLedger, comeToRest, recover } from "./final-checks.ts";
import type { Scenario } from "./scenario.ts";
import { type Violation, World, type WorldOptions } from "./world.ts";

export interface RunResult {
  violations: readonly Violation[];
  /** A digest of everything that happened. */
  digest: string;
  trace: readonly string[] | undefined;
  calls: number;
  attempts: number;
  rows: number;
  kills: number;
  /** Responses that were completed by another provider than the one that began them. */
  continued: number;
  endings: Readonly<Record<string, number>>;
  /** Time passed on the clock of the run. */
  passedMs: number;
}

/** Runs one scenario against the gateway and returns the rules that were broken. */
export async function runScenario(scenario: Scenario, options: WorldOptions): Promise<RunResult> {
  const clock = new VirtualClock({ turns: 1 });
  const storage = await openMemoryStorage(clock);
  try {
    const world = new World(scenario, options, clock, storage);
    await clock.until(world.start());
    await clock.until(playSteps(scenario, world));
    for (const check of [comeToRest, recover, checkKept, checkLedger]) if (!world.isBroken) await check(world);
    world.process?.kill();
    return resultOf(scenario, world);
  } finally {
    await storage.close();
  }
}

/** Each step at its time. */
function playSteps({ steps }: Scenario, world: World): Promise<void> {
  const { clock } = world;
  const { promise, resolve } = Promise.withResolvers<void>();
  let next = 0;
  const go = () => {
    for (;;) {
      const step = steps[next];
      if (step === undefined || world.isBroken) return resolve();
      if (step.atMs > clock.passedMs) {
        clock.after(step.atMs - clock.passedMs, go);
        return;
      }
      next++;
      world.take(step);
    }
  };
  go();
  return promise;
}

const CALLS: ReadonlySet<string> = new Set(["call", "video", "service"]);

function resultOf({ steps }: Scenario, world: World): RunResult {
  const endings: Record<string, number> = {};
  let attempts = 0;
  let continued = 0;
  for (const book of world.books.values()) {
    const ending = book.ending === "failed" ? `failed ${book.status}` : (book.ending ?? "none");
    endings[ending] = (endings[ending] ?? 0) + 1;
    attempts += book.attempts.length;
    if (book.ending === "whole" && book.attempts.some(({ isContinuation }) => isContinuation)) continued++;
  }
  for (const { ending, requests } of world.services.values()) {
    const name = `service ${ending ?? "none"}`;
    endings[name] = (endings[name] ?? 0) + 1;
    attempts += requests.length;
  }
  const { passedMs } = world.clock;
  return {
    violations: world.violations,
    digest: world.trace.digest(),
    trace: world.trace.lines,
    calls: steps.filter(({ kind }) => CALLS.has(kind)).length,
    attempts,
    rows: world.settled.size,
    kills: world.processes - 1,
    continued,
    endings,
    passedMs,
  };
}
