import type { Limits } from "../src/access/limits.ts";
import { SeededRandom } from "./seeded-random.ts";
import { SharedWorld } from "./shared-world.ts";

/** What happened in a part of a run, per second. */
interface Phase {
  name: string;
  seconds: number;
  messages: number;
  claims: number;
  levels: number;
  notified: number;
}

interface ManyKeysResult {
  broken: readonly string[];
  admitted: number;
  refused: number;
  /** Limits that the source knew after the start, and in the end. */
  startWindows: number;
  windows: number;
  /** The longest that an admitted call has waited. */
  longestMs: number;
  phases: readonly Phase[];
}

interface ManyKeysOptions {
  seed: number;
  instances: number;
  keys: number;
  calls: number;
}

const REST_MS = 10_000;
const CALLS_A_SECOND = 500;

/** Some limits are smaller than the number of instances, so that no share is a whole call. */
function drawLimits(random: SeededRandom): Limits {
  return {
    requestsPerMinute: random.pick([3, 10, 60, 600]),
    ...(random.chance(0.3) && { concurrent: random.pick([1, 4, 50]) }),
    ...(random.chance(0.5) && { budgetUsdPerDay: random.pick([0.05, 1, 20]) }),
  };
}

/** Many instances with many keys, of which few are called often: they start one after another, rest, and get calls. */
export async function playManyKeys({ seed, instances, keys, calls }: ManyKeysOptions): Promise<ManyKeysResult> {
  const random = new SeededRandom(seed);
  const limits = Array.from({ length: keys }, () => drawLimits(random));
  const phases: Phase[] = [];
  let world: SharedWorld | undefined;
  const phase = async (name: string, work: () => Promise<void>) => {
    const before = { ...world?.sent };
    const sinceMs = world?.clock.passedMs ?? 0;
    await work();
    if (world === undefined) return;
    const { sent, clock } = world;
    const seconds = (clock.passedMs - sinceMs) / 1000;
    const rate = (what: keyof typeof sent) => (sent[what] - (before[what] ?? 0)) / seconds;
    const counts = { messages: rate("messages"), claims: rate("claims"), levels: rate("levels") };
    phases.push({ name, seconds, ...counts, notified: rate("notified") });
  };
  await phase("the instances start", async () => {
    world = await SharedWorld.start({ seed, instances, limits, tells: true });
  });
  if (world === undefined) throw new Error("there is no world");
  const started: SharedWorld = world;
  const { clock, windows: startWindows } = started;
  await phase("at rest", () => clock.pass(REST_MS));
  const ended: Promise<boolean>[] = [];
  await phase(`${CALLS_A_SECOND} calls a second`, async () => {
    for (let call = 0; call < calls; call++) {
      const key = Math.floor(keys * random.next() ** 3);
      const costNanoUsd = random.pick([1_000_000, 20_000_000]);
      const lastsMs = random.between(5, 1_000);
      const planned = { key, at: random.between(0, instances - 1), tokens: 100, costNanoUsd, lastsMs, usedPart: 1 };
      ended.push(started.call(planned));
      await started.clock.pass(1000 / CALLS_A_SECOND);
    }
    await started.clock.until(Promise.all(ended));
  });
  const { broken, admitted, refused, longestMs, windows } = started;
  return { broken, admitted, refused, startWindows, windows, longestMs, phases };
}
