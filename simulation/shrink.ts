import type { RunResult } from "./run-scenario.ts";
import type { Behaviour, CallPlan, Scenario, Step } from "./scenario.ts";

/** A run with few calls takes milliseconds. */
const MAX_RUNS = 300;

/**
 * The same failure in a minimal run: fewer steps, and simpler calls. `run` runs a scenario; the result must break the
 * same rule.
 */
export async function shrink(
  scenario: Scenario,
  rule: string,
  run: (scenario: Scenario) => Promise<RunResult>,
): Promise<Scenario> {
  let runs = 0;
  let { steps } = scenario;
  const fails = async (candidate: readonly Step[]): Promise<boolean> => {
    if (runs++ >= MAX_RUNS) return false;
    const { violations } = await run({ ...scenario, steps: candidate });
    return violations.some((violation) => violation.rule === rule);
  };
  for (let size = steps.length >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < steps.length; ) {
      const fewer = [...steps.slice(0, from), ...steps.slice(from + size)];
      if (fewer.length > 0 && (await fails(fewer))) steps = fewer;
      else from += size;
    }
  }
  for (const [index, step] of steps.entries()) {
    let simplest = step;
    for (const simpler of simplified(step)) {
      const candidate = simpler(simplest);
      if (JSON.stringify(candidate) === JSON.stringify(simplest)) continue;
      if (await fails(steps.with(index, candidate))) {
        simplest = candidate;
        steps = steps.with(index, candidate);
      }
    }
  }
  return { ...scenario, steps };
}

type Simplify = (step: Step) => Step;

function simplified(step: Step): Simplify[] {
  if (step.kind !== "call") return [];
  const call =
    (change: (plan: CallPlan) => Partial<CallPlan>): Simplify =>
    (one) =>
      one.kind === "call" ? { ...one, call: { ...one.call, ...change(one.call) } } : one;
  return [
    call(() => ({ reading: {} })),
    call(() => ({ providers: [] })),
    call(({ providers }) => ({ providers: providers.slice(0, 1) })),
    call(({ providers }) => ({ providers: providers.map(prompt) })),
    call(() => ({ routing: {} })),
    call(() => ({ tool: false })),
    call(() => ({ padding: 0 })),
    call(() => ({ words: 1 })),
    call(() => ({ cached: 0 })),
    call(() => ({ key: "free" })),
    call(() => ({ door: "contract" })),
  ];
}

/** The same response, at once and with one chunk per event. */
const prompt = (behaviour: Behaviour): Behaviour => ({ ...behaviour, delayMs: 0, gapMs: 1, eventsPerChunk: 1 });
