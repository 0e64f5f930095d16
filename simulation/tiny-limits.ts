import { nanoOf } from "../src/access/budget.ts";
import type { Limits } from "../src/access/limits.ts";
import { SeededRandom } from "./seeded-random.ts";
import { type PlannedCall, SharedWorld } from "./shared-world.ts";

const PATTERNS = ["burst", "trickle", "alternation", "one place"] as const;

function drawLimits(random: SeededRandom): Limits {
  const limits: Limits = {
    ...(random.chance(0.4) && { requestsPerMinute: random.between(1, 40) }),
    ...(random.chance(0.4) && { tokensPerMinute: random.between(10, 5_000) }),
    ...(random.chance(0.4) && { concurrent: random.between(1, 12) }),
    ...(random.chance(0.4) && { budgetUsdPerDay: random.between(1, 200) / 1_000 }),
    ...(random.chance(0.2) && { budgetUsdTotal: random.between(1, 400) / 1_000 }),
  };
  return Object.keys(limits).length > 0 ? limits : { budgetUsdPerDay: 0.1 };
}

/** From a small part of a limit up to all of it. */
function drawAmount(random: SeededRandom, limit: number): number {
  const part = random.pick([0.01, 0.05, 0.2, 0.34, 0.51, 0.9, 1]);
  return Math.max(1, Math.floor(limit * part * (0.5 + random.next() / 2)));
}

/** Instances with limits of a few calls, and very unevenly distributed calls. The same seed gives the same run. */
export async function playTinyLimits(seed: number, instances?: number): Promise<SharedWorld> {
  const random = new SeededRandom(seed);
  const limits = drawLimits(random);
  const drawn = random.between(2, 8);
  const world = await SharedWorld.start({
    seed,
    instances: instances ?? drawn,
    limits: [limits],
    tells: random.chance(0.5),
  });
  const budget = Math.min(limits.budgetUsdPerDay ?? 1, limits.budgetUsdTotal ?? 1);
  // Most calls of a key are alike.
  const tokens = drawAmount(random, limits.tokensPerMinute ?? 1_000);
  const costNanoUsd = drawAmount(random, nanoOf(budget));
  const calls: Promise<boolean>[] = [];
  const send = (at: number) => {
    const isOther = random.chance(0.2);
    const planned: PlannedCall = {
      at,
      tokens: isOther ? drawAmount(random, limits.tokensPerMinute ?? 1_000) : tokens,
      costNanoUsd: isOther ? drawAmount(random, nanoOf(budget)) : costNanoUsd,
      lastsMs: random.chance(0.5) ? random.between(0, 50) : random.between(0, 3_000),
      usedPart: random.pick([0, 0.1, 0.1, 0.5, 1]),
    };
    calls.push(world.call(planned));
  };
  const killsAt = random.chance(0.25) ? random.between(3, 20) : undefined;
  const rounds = killsAt === undefined ? 40 : 90;
  for (let round = 0; round < rounds; round++) {
    if (round === killsAt) world.kill(random.between(0, 7));
    if (round === (killsAt ?? 0) + 60 && killsAt !== undefined && random.chance(0.5)) await world.join();
    const pattern = random.pick(PATTERNS);
    const place = random.between(0, 7);
    const count = random.between(1, pattern === "burst" ? 20 : 5);
    for (let index = 0; index < count; index++) {
      send(pattern === "one place" ? place : pattern === "alternation" ? index : random.between(0, 7));
      if (pattern !== "burst") await world.pass(random.between(1, pattern === "trickle" ? 400 : 60));
    }
    await world.pass(random.chance(0.5) ? random.between(0, 300) : random.between(500, 2_500));
  }
  await world.pass(2_000);
  await world.clock.until(Promise.all(calls));
  return world;
}
