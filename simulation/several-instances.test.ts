import { describe, expect, test } from "bun:test";
import { KEYS, readConfiguration } from "./configuration.ts";
import { runSeveral } from "./several-instances.ts";

const config = readConfiguration();
const SEEDS = 6;
const first = Number(process.env["TRIVIUM_SEED"] ?? Math.floor(Math.random() * 1_000_000_000));

describe("H23, choices 9: whole gateways that share limits, on one clock", () => {
  console.log(`simulation of several instances: TRIVIUM_SEED=${first}`);

  /** For all seeds together: in a rough one the gateways may be unavailable most of the time. */
  const seen = { answered: 0, refused: 0, clocksSet: 0 };

  for (let seed = first; seed < first + SEEDS; seed++) {
    test(`H30: no limit is exceeded when instances are killed, clocks are set, messages are lost and the source forgets: seed ${seed}`, async () => {
      const { violations, statuses, clocksSet } = await runSeveral(seed, config, true);
      expect({ seed, violations }).toEqual({ seed, violations: [] });
      seen.answered += statuses[200] ?? 0;
      seen.clocksSet += clocksSet;
      seen.refused += (statuses[429] ?? 0) + (statuses[402] ?? 0);
    });
  }

  test("these runs reach limits, or they would prove nothing", () => {
    expect(seen.answered).toBeGreaterThan(60);
    expect(seen.refused).toBeGreaterThan(30);
    expect(seen.clocksSet).toBeGreaterThan(10);
  });

  test("without faults, all but 2% of what is allowed is used", async () => {
    const { violations, rated } = await runSeveral(first, config, false);
    expect(violations).toEqual([]);
    expect(rated).toBeGreaterThanOrEqual(0.98 * (KEYS["rated"]?.requestsPerMinute ?? 0));
  });
});
