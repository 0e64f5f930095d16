import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import type { KeptVideo, Operation, OperationPart } from "../canon/operation.ts";
import { openStorage } from "../storage/open.ts";
import { insertOperation, leaseDue, saveOperation, selectOperation } from "../storage/operations.ts";
import type { Storage } from "../storage/storage.ts";
import { StorageTimeout } from "../storage/storage-timeout.ts";
import { Operations } from "./operations.ts";
import { type JobRunner, OperationPoller } from "./poller.ts";
import { Reservations } from "./reservations.ts";
import { Settlement } from "./settlement.ts";

const LEASE_MS = 1_000;

let storage: Storage;
let nowMs: number;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:", system.clock);
  nowMs = 1_000_000;
});
afterEach(() => storage.close());

const waiting: OperationPart = {
  state: "waiting",
  providerJob: { id: "job" },
  count: 1,
  dueAtMs: 0,
  failures: 0,
  videos: [],
  filtered: [],
};

function sampleOperation(changes: Partial<Operation> = {}): Operation {
  const price = { value: 0.01, unit: "perSecond", currency: "USD" };
  return {
    id: "operation_1",
    project: "default",
    keyId: "key_1",
    receiptId: "rcp_1",
    model: "acme/video",
    provider: "acme",
    credential: "digest",
    state: "running",
    job: {
      upstreamModel: "video",
      count: 1,
      seconds: 5,
      resolution: "720p",
      audio: false,
      pricings: { video: [price] },
      notes: [],
      offers: [],
    },
    parts: [waiting],
    requestDigest: "request",
    claimed: true,
    createdAtMs: nowMs,
    deadlineAtMs: nowMs + 3_600_000,
    dueAtMs: nowMs,
    ...changes,
  };
}

/** What one process has for operations, with the budget's view of them. */
function startProcess(owner: string, runner: Partial<JobRunner> = {}) {
  const budget = { reserved: 0, spent: 0 };
  const reservations = new Reservations((_keyId, costNanoUsd) => {
    budget.reserved += costNanoUsd;
    return (actualNanoUsd) => {
      budget.reserved -= costNanoUsd;
      budget.spent += actualNanoUsd;
    };
  });
  const problems: unknown[] = [];
  const unkept: string[] = [];
  const settlement = new Settlement({
    storage,
    nowMs: () => nowMs,
    keptMs: 3_600_000,
    onSettled: (operation, costNanoUsd) => reservations.settle(operation, costNanoUsd),
    onEnded: () => {},
    held: () => reservations.held,
  });
  const poller = new OperationPoller({
    storage,
    runner: {
      poll: async () => ({
        state: "done",
        reply: { videos: [{ url: "/video", mimeType: "video/mp4" }], filtered: [] },
      }),
      pollIntervalMs: () => 100,
      keep: async () => ({ file: "file_1", mimeType: "video/mp4" }),
      ...runner,
    },
    settlement,
    owner,
    clock: { ...system.clock, nowMs: () => nowMs },
    leaseMs: LEASE_MS,
    maxSleepMs: 10,
    onProblem: (error) => problems.push(error),
    onUnkept: (_operation, error) => unkept.push(error.message),
  });
  const operations = new Operations({
    storage,
    settlement,
    poller,
    owner,
    clock: { ...system.clock, nowMs: () => nowMs },
    leaseMs: LEASE_MS,
    keptMs: 3_600_000,
    reserve: (operation, costNanoUsd) => reservations.add(operation, costNanoUsd),
  });
  return { budget, reservations, settlement, poller, operations, problems, unkept };
}

const read = (id = "operation_1") => selectOperation(storage, "default", id);

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300 && !(await isSo()); tries += 1) await Bun.sleep(5);
  expect(await isSo()).toBe(true);
}

describe("an operation whose process died", () => {
  test("before it had any jobs has failed, and does not count as done without videos", async () => {
    const operation = sampleOperation({ state: "submitting", parts: [] });
    await insertOperation(storage, operation, { owner: "dead", untilMs: nowMs - 1 });
    const { poller } = startProcess("alive");
    poller.start();
    await until(async () => (await read())?.endedAtMs !== undefined);
    await poller.stop();
    expect(await read()).toMatchObject({
      state: "failed",
      error: { kind: "upstream_failed", message: expect.stringContaining("Submit it again") },
    });
  });

  test("during its submits keeps the accepted jobs, and ends the others", async () => {
    const asking: OperationPart = { ...waiting, state: "asking" };
    const operation = sampleOperation({ state: "submitting", parts: [waiting, asking] });
    await insertOperation(storage, operation, { owner: "dead", untilMs: nowMs - 1 });
    const { poller } = startProcess("alive");
    poller.start();
    await until(async () => (await read())?.endedAtMs !== undefined);
    await poller.stop();
    expect(await read()).toMatchObject({ state: "done", parts: [{ state: "done" }, { state: "failed" }] });
  });
});

describe("H29: the storage is unavailable when the provider has accepted the job", () => {
  /** Statements of this kind time out so many times, having taken effect or not. */
  function failing(statement: RegExp, times: number, tookEffect: boolean): void {
    const query = storage.query.bind(storage);
    let left = times;
    storage.query = async (text, parameters, limitMs) => {
      if (!statement.test(text) || left === 0) return query(text, parameters, limitMs);
      left -= 1;
      if (tookEffect) await query(text, parameters, limitMs);
      throw new StorageTimeout(1);
    };
  }
  const client = { disconnected: false, disconnection: new Promise<void>(() => {}) };

  test.each([
    ["its last write has no effect", /lease_owner = NULL/, 3, false],
    ["its last write takes effect, and its confirmation is lost", /lease_owner = NULL/, 1, true],
    ["that the client got its name cannot be written", /SET claimed/, 3, false],
  ] as const)("%s: the operation is there, with its job", async (_, statement, times, tookEffect) => {
    const { operations } = startProcess("process");
    const operation = sampleOperation({ state: "submitting", parts: [], claimed: false });
    failing(statement, times, tookEffect);
    await operations.begin(operation, client, async (save) => {
      operation.parts = [{ ...waiting, state: "asking" }];
      delete operation.parts[0]?.providerJob;
      await save();
      operation.parts = [waiting];
    });
    expect(await read()).toMatchObject({ state: "running", claimed: true, parts: [{ providerJob: { id: "job" } }] });
  });

  test("a storage that stays unavailable is not waited for without end", async () => {
    const { operations } = startProcess("process");
    const operation = sampleOperation({ state: "submitting", parts: [] });
    failing(/lease_owner = NULL/, Number.POSITIVE_INFINITY, false);
    const beginning = operations.begin(operation, client, async () => {
      operation.parts = [waiting];
    });
    setTimeout(() => {
      nowMs += 2 * LEASE_MS;
    }, 20);
    await expect(beginning).rejects.toThrow(StorageTimeout);
  });
});

test.each([-5, 0, 1e300, Number.POSITIVE_INFINITY, Number.NaN])(
  "H26: a reported length of %p seconds is impossible: the requested one is billed",
  async (seconds) => {
    const poll: JobRunner["poll"] = async () => ({
      state: "done",
      reply: { videos: [{ url: "/video", mimeType: "video/mp4" }], filtered: [], seconds },
    });
    const { poller, budget } = startProcess("process", { poll });
    await insertOperation(storage, sampleOperation(), { owner: "none", untilMs: 0 });
    poller.start();
    await until(async () => (await read())?.endedAtMs !== undefined);
    await poller.stop();
    expect(budget.spent).toBe(50_000_000);
  },
);

describe("decision 0014: the Idempotency-Key of an operation whose process died", () => {
  const asking: OperationPart = { state: "asking", count: 1, dueAtMs: 0, failures: 0, videos: [], filtered: [] };
  const cases: [string, OperationPart[], string | undefined][] = [
    ["while it asked the provider stays with it: the job may have arrived", [asking], "operation_1"],
    ["before any request was sent is free again", [], undefined],
  ];
  for (const [what, parts, found] of cases) {
    test(what, async () => {
      const operation = sampleOperation({ state: "submitting", parts, idempotencyKey: "key" });
      await insertOperation(storage, operation, { owner: "dead", untilMs: nowMs - 1 });
      const { poller, operations } = startProcess("alive");
      poller.start();
      await until(async () => (await read())?.endedAtMs !== undefined);
      await poller.stop();
      expect((await read())?.state).toBe("failed");
      expect((await operations.findByKey("default", "key", 0))?.id).toBe(found);
    });
  }
});

test("a worker whose lease expired saves nothing, even if the next owner is in the same process", async () => {
  const kept = [Promise.withResolvers<KeptVideo>(), Promise.withResolvers<KeptVideo>()];
  const fetching = kept.values();
  let fetched = 0;
  const keep = async () => {
    fetched += 1;
    return (await fetching.next().value?.promise) ?? { file: "file_3", mimeType: "video/mp4" };
  };
  const { poller, problems } = startProcess("process", { keep });
  await insertOperation(storage, sampleOperation(), { owner: "none", untilMs: 0 });
  poller.start();
  await until(() => fetched === 1);
  nowMs += 2 * LEASE_MS;
  await until(() => fetched === 2);
  kept[0]?.resolve({ file: "file_1", mimeType: "video/mp4" });
  await Bun.sleep(20);
  expect(await read()).toMatchObject({ state: "running", parts: [{ videos: [] }] });
  kept[1]?.resolve({ file: "file_2", mimeType: "video/mp4" });
  await until(async () => (await read())?.state === "done");
  await poller.stop();
  expect((await read())?.parts.flatMap(({ videos }) => videos)).toEqual([{ file: "file_2", mimeType: "video/mp4" }]);
  expect(problems).toEqual([]);
});

test("an expired lease that another process took saves nothing any more", async () => {
  const operation = sampleOperation();
  await insertOperation(storage, operation, { owner: "slow", untilMs: nowMs - 1 });
  expect(await leaseDue(storage, { owner: "quick", untilMs: nowMs + LEASE_MS }, nowMs, 10)).toHaveLength(1);
  expect(await leaseDue(storage, { owner: "third", untilMs: nowMs + LEASE_MS }, nowMs, 10)).toEqual([]);
  expect(await saveOperation(storage, operation, "slow", true)).toBe(false);
  expect(await saveOperation(storage, operation, "quick", true)).toBe(true);
});

test("H23: money held here for an operation that another process settles is counted and released, once", async () => {
  const [here, elsewhere] = [startProcess("here"), startProcess("elsewhere")];
  const operation = sampleOperation();
  here.reservations.add(operation, 70_000_000);
  await insertOperation(storage, operation, { owner: "elsewhere/1", untilMs: nowMs + LEASE_MS });
  await here.settlement.followOthers();
  expect(here.budget).toEqual({ reserved: 70_000_000, spent: 0 });

  const video: OperationPart = { ...waiting, state: "done", videos: [{ file: "file_1", mimeType: "video/mp4" }] };
  await elsewhere.settlement.end({ ...operation, parts: [video] }, "elsewhere/1");
  for (let looks = 0; looks < 3; looks += 1) {
    nowMs += 5_000;
    await here.settlement.followOthers();
  }
  expect(here.budget).toEqual({ reserved: 0, spent: 50_000_000 });
  expect(elsewhere.budget).toEqual({ reserved: 0, spent: 50_000_000 });
});

describe("decision 0019: a video that was made and cannot be stored", () => {
  const full = () => new GatewayError("overloaded", "The file store is full.");
  // Each attempt has its time, and the test does not wait that long.
  let clock: ReturnType<typeof setInterval>;
  beforeEach(() => {
    clock = setInterval(() => {
      nowMs += 400;
    }, 2);
  });
  afterEach(() => clearInterval(clock));

  test("is tried again however often it fails, and stored when there is space", async () => {
    let attempts = 0;
    const keep = async (): Promise<KeptVideo> => {
      attempts += 1;
      if (attempts < 20) throw full();
      return { file: "file_1", mimeType: "video/mp4" };
    };
    const { poller, budget, unkept } = startProcess("process", { keep });
    await insertOperation(storage, sampleOperation(), { owner: "none", untilMs: 0 });
    poller.start();
    await until(async () => (await read())?.endedAtMs !== undefined);
    await poller.stop();
    expect(await read()).toMatchObject({ state: "done", parts: [{ state: "done", videos: [{ file: "file_1" }] }] });
    expect(unkept).toHaveLength(19);
    expect(budget.spent).toBe(50_000_000);
  });

  test("H29: an unavailable storage counts no more than a full store", async () => {
    let attempts = 0;
    const keep = async (): Promise<KeptVideo> => {
      attempts += 1;
      if (attempts < 20) throw new StorageTimeout(1);
      return { file: "file_1", mimeType: "video/mp4" };
    };
    const { poller, budget } = startProcess("process", { keep });
    await insertOperation(storage, sampleOperation(), { owner: "none", untilMs: 0 });
    poller.start();
    await until(async () => (await read())?.endedAtMs !== undefined);
    await poller.stop();
    expect(await read()).toMatchObject({ state: "done", parts: [{ state: "done", videos: [{ file: "file_1" }] }] });
    expect(budget.spent).toBe(50_000_000);
  });

  test("fails in the end with the store's reason, and is billed: its provider bills it", async () => {
    const keep = async (): Promise<KeptVideo> => {
      throw full();
    };
    const { poller, budget } = startProcess("process", { keep });
    await insertOperation(storage, sampleOperation({ deadlineAtMs: nowMs + 5_000 }), { owner: "none", untilMs: 0 });
    poller.start();
    await until(async () => (await read())?.endedAtMs !== undefined);
    await poller.stop();
    expect(await read()).toMatchObject({
      state: "failed",
      error: { kind: "overloaded", message: "The file store is full." },
    });
    expect(budget).toEqual({ reserved: 0, spent: 50_000_000 });
  });

  test("a dead link ends it; a video that could not be fetched for another reason costs nothing", async () => {
    const cases: [GatewayError | undefined, number][] = [
      [full(), 50_000_000],
      [undefined, 0],
    ];
    for (const [index, [first, spent]] of cases.entries()) {
      let attempts = 0;
      const keep = async (): Promise<KeptVideo> => {
        if (attempts++ === 0 && first) throw first;
        throw new GatewayError("upstream_failed", "The link is dead.");
      };
      const { poller, budget } = startProcess(`process-${index}`, { keep });
      const id = `operation_link_${index}`;
      const operation = sampleOperation({
        id,
        receiptId: `rcp_link_${index}`,
        deadlineAtMs: nowMs + 36_000_000,
        dueAtMs: nowMs,
      });
      await insertOperation(storage, operation, { owner: "none", untilMs: 0 });
      poller.start();
      await until(async () => (await read(id))?.endedAtMs !== undefined);
      await poller.stop();
      expect(await read(id)).toMatchObject({ state: "failed", error: { message: "The link is dead." } });
      expect(budget.spent).toBe(spent);
    }
  });
});

test("a part's job is stored under the name that rows of earlier versions have", async () => {
  await insertOperation(storage, sampleOperation(), { owner: "process/1", untilMs: nowMs });
  const [row] = await storage.query("SELECT parts FROM operations", []);
  expect(JSON.parse(String(row?.["parts"]))).toMatchObject([{ state: "waiting", ticket: { id: "job" } }]);
  expect((await selectOperation(storage, "default", "operation_1"))?.parts).toEqual([waiting]);
});
