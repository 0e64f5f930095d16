import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { Seed } from "../../simulator/seed.ts";
import { atRest } from "../../testing/eventually.ts";
import { isPresent, programsPresent } from "../../testing/is-present.ts";
import { startRedis } from "../../testing/redis.ts";
import { auditVideos, awaitNothingOpen, hastyQuestions } from "./audit-videos.ts";
import { type CrashHarness, compileGateway, type Moment, startCrashHarness, VIDEO_MODELS } from "./crash-harness.ts";
import { orderVideos, repeatOrder, type VideoOrder, type VideoOutcome } from "./video-client.ts";

const seedText = process.env["TRIVIUM_TEST_SEED"] ?? String(Date.now());
console.log(`Moments of death: TRIVIUM_TEST_SEED=${seedText}`);

/**
 * `src/operations/killed-process.test.ts` kills a gateway in memory at every single step. Here it is a real process, with
 * real files and a real database, at random moments.
 */
const KILLS_OF_ONE = 15;
const KILLS_OF_TWO = 6;
const MAX_LIFE_MS = 400;
const MAX_DELAY_MS = 15;
const CLIENTS = 8;

const folder = mkdtempSync(join(tmpdir(), "trivium-crashing-"));
let program: readonly string[] = [];
beforeAll(async () => {
  program = await compileGateway(folder);
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeOrder(number: number, seed: Seed): VideoOrder {
  const video = VIDEO_MODELS[number % VIDEO_MODELS.length] ?? VIDEO_MODELS[0];
  const count = 1 + seed.number(`count ${number}`, 2);
  return { number, video, count, ...(number % 3 === 0 ? {} : { idempotencyKey: `order-${number}` }) };
}

/** Clients that submit one video after the other until `isOver`, each time to some gateway. */
async function orderUntil(
  isOver: () => boolean,
  harness: CrashHarness,
  seed: Seed,
  from: number,
): Promise<VideoOutcome[]> {
  const outcomes: VideoOutcome[] = [];
  let number = from;
  let asked = 0;
  const urlOf = () => harness.slots[seed.number(`place ${asked++}`, harness.slots.length)]?.url ?? "";
  const client = async () => {
    while (!isOver()) {
      const order = makeOrder(number++, seed);
      outcomes.push(await orderVideos(order, urlOf));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return outcomes;
}

/**
 * Kills and restarts one gateway after another: at any moment, or within a few milliseconds of a request to the
 * simulator, when a response is in transit or a row is about to be written.
 */
async function killAtRandom(harness: CrashHarness, seed: Seed, kills: number): Promise<void> {
  for (let index = 0; index < kills; index += 1) {
    await Bun.sleep(10 + seed.number(`life ${index}`, MAX_LIFE_MS));
    const moment = seed.pick<Moment | "any">(`moment ${index}`, ["any", "submit", "question", "fetch"]);
    if (moment !== "any") {
      await harness.moment(moment);
      const delayMs = seed.number(`delay ${index}`, MAX_DELAY_MS);
      if (delayMs > 0) await Bun.sleep(delayMs);
    }
    const slot = harness.slots[seed.number(`victim ${index}`, harness.slots.length)];
    await slot?.kill();
    await slot?.start();
  }
}

async function orderAmidKills(harness: CrashHarness, seed: Seed, kills: number, from: number): Promise<VideoOutcome[]> {
  let over = false;
  const killing = killAtRandom(harness, seed, kills).finally(() => {
    over = true;
  });
  const outcomes = await orderUntil(() => over, harness, seed, from);
  await killing;
  return outcomes;
}

/** The same request under the same key is the same operation, on every gateway and after every crash. */
async function checkRepetitions(harness: CrashHarness, outcomes: readonly VideoOutcome[]): Promise<void> {
  const keyed = outcomes.filter(({ order }) => order.idempotencyKey !== undefined);
  expect(keyed.length).toBeGreaterThan(0);
  for (const [index, outcome] of keyed.entries()) {
    const url = harness.slots[index % harness.slots.length]?.url ?? "";
    expect({ order: outcome.order.number, same: await repeatOrder(outcome, url) }).toEqual({
      order: outcome.order.number,
      same: true,
    });
  }
}

/** What a gateway may say while the machine is busy: Redis has 900 ms to answer, and videos do not wait for it. */
const LATE_REDIS = "limits are no longer shared among instances";

async function closeGateways({ slots, said }: CrashHarness): Promise<void> {
  for (const slot of slots) await slot.close();
  await atRest("what the gateways say", () => said.length);
  const lines = said.flatMap((text) => text.trim().split("\n"));
  expect(lines.filter((line) => !line.includes(LATE_REDIS))).toEqual([]);
}

test(`choices 5, H24, H42: one gateway killed ${KILLS_OF_ONE} times completes every operation, bills it once and has its videos`, async () => {
  const seed = new Seed(`${seedText} one`);
  const harness = await startCrashHarness({ gateways: 1, program, mayDie: true });
  try {
    const outcomes = await orderAmidKills(harness, seed, KILLS_OF_ONE, 0);
    await awaitNothingOpen(harness.storage);
    await checkRepetitions(harness, outcomes);
    await closeGateways(harness);
    const audit = await auditVideos(harness, outcomes);
    console.log(`one gateway, ${KILLS_OF_ONE} deaths: ${JSON.stringify(audit)}`);
    expect(hastyQuestions(harness.questions)).toEqual([]);
  } finally {
    await harness.close();
  }
});

/** Two running gateways never poll or fetch twice; then they are killed in turns. */
async function twoGateways(engine: string, storageUrl?: string): Promise<void> {
  const seed = new Seed(`${seedText} ${engine}`);
  const harness = await startCrashHarness({ gateways: 2, storageUrl, redis: redis?.url ?? "", program, mayDie: true });
  try {
    const untilMs = performance.now() + 2_000;
    const peaceful = await orderUntil(() => performance.now() > untilMs, harness, seed, 0);
    await awaitNothingOpen(harness.storage);
    const videos = peaceful.reduce((sum, outcome) => sum + outcome.videos.length, 0);
    const { mediaJobs } = harness.simulator.stats();
    const fetches = harness.questions.filter(({ path }) => path.includes("/results/")).length;
    expect({ mediaJobs, fetches }).toEqual({ mediaJobs: videos, fetches: videos });
    expect(videos).toBeGreaterThan(CLIENTS);

    const amidKills = await orderAmidKills(harness, seed, KILLS_OF_TWO, peaceful.length + CLIENTS);
    await awaitNothingOpen(harness.storage);
    const outcomes = [...peaceful, ...amidKills];
    await checkRepetitions(harness, outcomes);
    await closeGateways(harness);
    const audit = await auditVideos(harness, outcomes);
    console.log(`two gateways on ${engine}, ${KILLS_OF_TWO} deaths: ${JSON.stringify(audit)}`);
    expect(hastyQuestions(harness.questions)).toEqual([]);
  } finally {
    await harness.close();
  }
}

const redis = programsPresent("crashes of two gateways", "redis-server") ? await startRedis() : undefined;
afterAll(() => redis?.stop());

test.skipIf(redis === undefined)("H24: two gateways on one SQLite file share the work, and either may die", () =>
  twoGateways("SQLite"),
);

const server = process.env["TRIVIUM_TEST_POSTGRES"];
isPresent(server !== undefined, "crashes on PostgreSQL, because TRIVIUM_TEST_POSTGRES is not set");

describe.skipIf(server === undefined || redis === undefined)("on PostgreSQL", () => {
  const database = `trivium_crash_${crypto.randomUUID().replaceAll("-", "")}`;

  async function run(statement: string): Promise<void> {
    const connection = new SQL(server ?? "", { max: 1 });
    await connection.unsafe(statement);
    await connection.close();
  }

  test("H24, H42: two gateways on one PostgreSQL database share the work, and either may die", async () => {
    const url = new URL(server ?? "");
    url.pathname = `/${database}`;
    await run(`CREATE DATABASE ${database}`);
    try {
      await twoGateways("PostgreSQL", url.href);
    } finally {
      await run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    }
  });
});
