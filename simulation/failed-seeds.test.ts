import { expect, test } from "bun:test";
import { readConfiguration } from "./configuration.ts";
import { drawScenario } from "./draw-scenario.ts";
import { runScenario } from "./run-scenario.ts";

/** Seeds that have broken a rule once, with the number of calls. */
const FAILED: readonly (readonly [seed: number, calls: number])[] = [[20_261_115, 20_000]];

const config = readConfiguration();

for (const [seed, calls] of FAILED) {
  test(`seed ${seed} breaks no rule any more`, async () => {
    const { violations } = await runScenario(drawScenario({ seed, calls }), { config });
    expect(violations).toEqual([]);
  }, 600_000);
}
