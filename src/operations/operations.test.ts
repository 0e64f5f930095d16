import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import type { Operation, OperationPart } from "../canon/operation.ts";
import { StorageTimeout } from "../storage/storage-timeout.ts";
import { claimUnheard, insertOperation, leaseDue, renewLease, selectOperation } from "../storage/tables/operations.ts";
import type { WaitingClient } from "./operations.ts";
import { Bench, COST_NANO_USD, KEPT_MS, LEASE_MS, type SampleProcess, WAITING, waitingPart } from "./process.sample.ts";

const STAYS: WaitingClient = { disconnected: false, disconnection: new Promise<void>(() => {}) };

async function start(): Promise<{ bench: Bench; process: SampleProcess }> {
  const bench = await Bench.open();
  return { bench, process: bench.process() };
}

const submitting = (bench: Bench, changes: Partial<Operation> = {}) =>
  bench.operation({ state: "submitting", parts: [], claimed: false, ...changes });

/** Submits one part whose job is accepted. */
const accept =
  (operation: Operation, changes: Partial<OperationPart> = {}) =>
  async (save: () => Promise<void>) => {
    operation.parts = [{ ...waitingPart(changes), state: "asking" }];
    await save();
    operation.parts = [waitingPart(changes)];
  };

describe("an operation that begins", () => {
  test("is stored before its provider is called, and runs once it was accepted", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    const seen: string[] = [];
    await process.operations.begin(operation, STAYS, async (save) => {
      seen.push((await bench.read()).state);
      await accept(operation, { dueAtMs: bench.nowMs + 10_000 })(save);
    });
    expect(seen).toEqual(["submitting"]);
    const stored = await bench.read();
    expect(stored).toMatchObject({ state: "running", claimed: true, parts: [{ providerJob: { id: "job" } }] });
    expect(stored.dueAtMs - bench.nowMs).toBe(10_000);
    expect(process.wakes).toBe(1);
    expect(bench.clock.timers).toBe(0);
  });

  test("is due when the first of its jobs is; failed parts are not waited for", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    await process.operations.begin(operation, STAYS, async () => {
      operation.parts = [
        waitingPart({ state: "failed", dueAtMs: 1 }),
        waitingPart({ dueAtMs: bench.nowMs + 9_000 }),
        waitingPart({ dueAtMs: bench.nowMs + 7_000 }),
      ];
    });
    expect((await bench.read()).dueAtMs - bench.nowMs).toBe(7_000);
  });

  test("ends at once if no provider accepted it, with a receipt without cost, and the error is returned", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    const beginning = process.operations.begin(operation, STAYS, async () => {
      operation.parts = [waitingPart({ state: "asking" })];
      throw new GatewayError("rate_limited", "slow down");
    });
    await expect(beginning).rejects.toThrow("slow down");
    expect(await bench.read()).toMatchObject({
      state: "failed",
      error: { kind: "rate_limited", message: "slow down" },
      parts: [{ state: "failed" }],
    });
    expect(process.receipts).toMatchObject([{ outcome: "rate_limited", costNanoUsd: 0 }]);
    expect([process.wakes, bench.clock.timers]).toEqual([0, 0]);
  });

  test("keeps its lease while it is submitted, however long that takes", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    const beginning = process.operations.begin(operation, STAYS, async (save) => {
      await bench.clock.sleep(3 * LEASE_MS);
      const lease = { owner: "other", untilMs: bench.nowMs + LEASE_MS };
      expect(await leaseDue(bench.storage, lease, bench.nowMs, 10)).toEqual([]);
      await accept(operation)(save);
    });
    await bench.clock.until(beginning);
    expect((await bench.read()).state).toBe("running");
  });

  test("is not overwritten if another process took it over", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    const beginning = process.operations.begin(operation, STAYS, async (save) => {
      await bench.storage.query("UPDATE operations SET lease_owner = 'other'");
      await accept(operation)(save);
    });
    await expect(beginning).rejects.toThrow("The operation was taken over while it was being submitted.");
    expect(await bench.read()).toMatchObject({ state: "submitting", parts: [] });
    expect(process.receipts).toEqual([]);
  });

  test("writes its states in order: an older one never overtakes a newer one", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    const query = bench.storage.query.bind(bench.storage);
    let writes = 0;
    bench.storage.query = async (text, ...rest) => {
      // The first of the writes is slow.
      if (text.includes("SET state") && writes++ === 0) await bench.clock.sleep(5_000);
      return query(text, ...rest);
    };
    const beginning = process.operations.begin(operation, STAYS, async (save) => {
      operation.parts = [waitingPart({ progress: 1 })];
      const first = save();
      operation.parts = [waitingPart({ progress: 2 })];
      await Promise.all([first, save()]);
    });
    await bench.clock.until(beginning);
    expect((await bench.read()).parts[0]?.progress).toBe(2);
  });

  test("H24: is rejected under an Idempotency-Key that is in use, and nothing is submitted", async () => {
    const { bench, process } = await start();
    await bench.add({ idempotencyKey: "key" });
    let submitted = false;
    const twin = submitting(bench, { id: "operation_2", receiptId: "rcp_2", idempotencyKey: "key" });
    const beginning = process.operations.begin(twin, STAYS, async () => {
      submitted = true;
    });
    const error = await beginning.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "rate_limited", code: "idempotency_key_in_use", retryAfterSeconds: 2 });
    expect([submitted, bench.clock.timers]).toEqual([false, 0]);
  });
});

describe("H24: a client that disconnects before it has the name", () => {
  const claim = (bench: Bench) => claimUnheard(bench.storage, "key_1", "request", 0, bench.nowMs);

  test("can claim the operation once by repeating its request", async () => {
    const { bench, process } = await start();
    const leaving = Promise.withResolvers<void>();
    const client = { disconnected: false, disconnection: leaving.promise };
    const operation = submitting(bench);
    const beginning = process.operations.begin(operation, client, async (save) => {
      await accept(operation)(save);
      client.disconnected = true;
      leaving.resolve();
      await bench.clock.sleep(1_000);
    });
    await bench.clock.until(beginning);
    expect((await claim(bench))?.id).toBe("operation_1");
    expect(await claim(bench)).toBeUndefined();
  });

  test("can claim it at once, while the first request is still being submitted", async () => {
    const { bench, process } = await start();
    const leaving = Promise.withResolvers<void>();
    const operation = submitting(bench);
    const beginning = process.operations.begin(
      operation,
      { disconnected: true, disconnection: leaving.promise },
      async (save) => {
        expect(await claim(bench)).toBeUndefined();
        leaving.resolve();
        await bench.clock.sleep(1_000);
        expect((await claim(bench))?.id).toBe("operation_1");
        await accept(operation)(save);
      },
    );
    await bench.clock.until(beginning);
    expect(await claim(bench)).toBeUndefined();
  });

  test("a client that stays receives the name, and no other request can claim it", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    await process.operations.begin(operation, STAYS, accept(operation));
    expect(await process.operations.claimUnheard("key_1", "request", 0)).toBeUndefined();
  });

  test("an operation whose process died before it could respond can be claimed when the lease has expired", async () => {
    const { bench, process } = await start();
    const operation = bench.operation({ claimed: false });
    await insertOperation(bench.storage, operation, { owner: "dead", untilMs: bench.nowMs + 1_000 });
    expect(await process.operations.claimUnheard("key_1", "request", 0)).toBeUndefined();
    await bench.clock.pass(1_001);
    expect((await process.operations.claimUnheard("key_1", "request", 0))?.id).toBe("operation_1");
  });
});

describe("H29: the storage is unavailable when the provider has accepted the job", () => {
  /** Statements of this kind time out this many times, with or without having taken effect. */
  function failing({ storage }: Bench, statement: RegExp, times: number, tookEffect: boolean): void {
    const query = storage.query.bind(storage);
    let left = times;
    storage.query = async (text, parameters, limitMs) => {
      if (!statement.test(text) || left === 0) return query(text, parameters, limitMs);
      left -= 1;
      if (tookEffect) await query(text, parameters, limitMs);
      throw new StorageTimeout(1);
    };
  }

  test.each([
    ["its last write has no effect", /lease_owner = NULL/, 3, false],
    ["its last write takes effect, and its confirmation is lost", /lease_owner = NULL/, 1, true],
    ["the delivery of its name cannot be recorded", /SET claimed/, 3, false],
  ] as const)("%s: the operation is stored, with its job", async (_, statement, times, tookEffect) => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    failing(bench, statement, times, tookEffect);
    const startedAtMs = bench.nowMs;
    await bench.clock.until(process.operations.begin(operation, STAYS, accept(operation)));
    expect(await bench.read()).toMatchObject({
      state: "running",
      claimed: true,
      parts: [{ providerJob: { id: "job" } }],
    });
    expect(bench.nowMs - startedAtMs).toBe(times * 100);
  });

  test("a storage that stays unavailable is retried as long as the lease lasts", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    failing(bench, /lease_owner = NULL/, Number.POSITIVE_INFINITY, false);
    const startedAtMs = bench.nowMs;
    const beginning = process.operations.begin(operation, STAYS, accept(operation));
    const error = await bench.clock.until(beginning.catch((thrown: unknown) => thrown));
    expect(error).toBeInstanceOf(StorageTimeout);
    expect(bench.nowMs - startedAtMs).toBe(LEASE_MS);
    expect(bench.clock.timers).toBe(0);
  });

  test("an error that does not come from the storage is returned at once", async () => {
    const { bench, process } = await start();
    const operation = submitting(bench);
    const query = bench.storage.query.bind(bench.storage);
    bench.storage.query = (text, ...rest) =>
      text.includes("lease_owner = NULL") ? Promise.reject(new TypeError("a mistake")) : query(text, ...rest);
    await expect(process.operations.begin(operation, STAYS, accept(operation))).rejects.toThrow("a mistake");
    expect(bench.clock.passedMs).toBe(0);
  });
});

describe("choices 5, decision 0014: an operation by its Idempotency-Key", () => {
  const failed = (part: Partial<OperationPart>): Partial<Operation> => ({
    state: "failed",
    parts: [waitingPart({ state: "failed", ...part })],
    idempotencyKey: "key",
  });
  const { providerJob: _, ...jobless } = WAITING;
  const refused = { ...failed({}), parts: [{ ...jobless, state: "failed" as const }] };

  test.each([
    ["that runs is found", { idempotencyKey: "key" }, "operation_1"],
    ["that was accepted and failed is found", failed({}), "operation_1"],
    [
      "that may have arrived is found",
      { ...refused, parts: [{ ...jobless, state: "failed" as const, uncertain: true as const }] },
      "operation_1",
    ],
    ["that certainly did not arrive is free again", refused, undefined],
  ] satisfies [string, Partial<Operation>, string | undefined][])("one %s", async (_what, changes, found) => {
    const { bench, process } = await start();
    await bench.add(changes);
    expect((await process.operations.findByKey("default", "key", 0))?.id).toBe(found);
    const [row] = await bench.storage.query("SELECT idempotency_key FROM operations");
    expect(row?.["idempotency_key"]).toBe(found === undefined ? null : "key");
  });

  test("an old one is forgotten, and one of another project is not found", async () => {
    const { bench, process } = await start();
    await bench.add({ idempotencyKey: "key" });
    expect(await process.operations.findByKey("other", "key", 0)).toBeUndefined();
    expect((await process.operations.findByKey("default", "key", bench.nowMs))?.id).toBe("operation_1");
    expect(await process.operations.findByKey("default", "key", bench.nowMs + 1)).toBeUndefined();
    const [row] = await bench.storage.query("SELECT idempotency_key FROM operations");
    expect(row?.["idempotency_key"]).toBeNull();
  });

  test.each([
    ["during the provider's request stays with it: the job may have arrived", true, "operation_1"],
    ["before any request was sent is free again", false, undefined],
  ])("one whose process died %s", async (_what, asked, found) => {
    const { bench, process } = await start();
    const parts = asked ? [{ ...jobless, state: "asking" as const }] : [];
    const operation = bench.operation({ state: "submitting", parts, idempotencyKey: "key" });
    await insertOperation(bench.storage, operation, { owner: "dead", untilMs: 0 });
    process.poller.start();
    expect((await bench.ended()).state).toBe("failed");
    expect((await process.operations.findByKey("default", "key", 0))?.id).toBe(found);
  });
});

describe("stored operations", () => {
  test("H23: reserve their estimated cost until they end", async () => {
    const { bench, process } = await start();
    const operation = await bench.add();
    process.operations.reserve(operation);
    expect(process.budget).toEqual({ reserved: COST_NANO_USD, spent: 0 });
    expect((await process.operations.open()).map(({ id }) => id)).toEqual(["operation_1"]);
    process.poller.start();
    await bench.ended();
    expect(process.budget).toEqual({ reserved: 0, spent: COST_NANO_USD });
    expect(await process.operations.open()).toEqual([]);
  });

  const READER = { project: "default", keyId: "key_1" };

  test("S09: are found by their own project, and claimed by whoever received their name", async () => {
    const { bench, process } = await start();
    await bench.add({ claimed: false });
    expect(await process.operations.find({ project: "other", keyId: "key_1" }, "operation_1")).toBeUndefined();
    expect((await process.operations.find(READER, "operation_1"))?.claimed).toBe(false);
    await process.operations.claim("operation_1");
    expect((await process.operations.find(READER, "operation_1"))?.claimed).toBe(true);
  });

  test("decision 0087: private ones are found and listed by their own key only", async () => {
    const { bench, process } = await start();
    await bench.add({ share: "private", keyId: "key_2", claimed: true });
    const page = { limit: 10, order: "desc" } as const;
    expect(await process.operations.find(READER, "operation_1")).toBeUndefined();
    expect(await process.operations.list(READER, page)).toEqual([]);
    const owner = { project: "default", keyId: "key_2" };
    expect((await process.operations.find(owner, "operation_1"))?.share).toBe("private");
    expect((await process.operations.list(owner, page)).map(({ id }) => id)).toEqual(["operation_1"]);
    expect(await process.operations.list({ ...owner, project: "other" }, page)).toEqual([]);
  });

  test("decision 0100: are forgotten at once, and deleted when every process knows that they ended", async () => {
    const { bench, process } = await start();
    await bench.add();
    expect(await process.operations.forget("operation_1")).toBe(false);
    process.poller.start();
    await bench.ended();
    await process.poller.stop();
    expect(await process.operations.forget("operation_1")).toBe(true);
    expect(await process.operations.find(READER, "operation_1")).toBeUndefined();
    expect(await process.operations.list(READER, { limit: 10, order: "asc" })).toEqual([]);
    expect(await process.operations.sweep()).toBe(0);
    await bench.clock.pass(61_000);
    expect(await process.operations.sweep()).toBe(1);
  });

  test("are deleted when they expire, and not before", async () => {
    const { bench, process } = await start();
    await bench.add();
    process.poller.start();
    await bench.ended();
    await process.poller.stop();
    expect(process.operations.keptHours).toBe(1);
    const { expiresAtMs = 0 } = await bench.read();
    await bench.clock.pass(expiresAtMs - bench.nowMs);
    expect(await process.operations.sweep()).toBe(0);
    await bench.clock.pass(1);
    expect(await process.operations.sweep()).toBe(1);
    expect(await selectOperation(bench.storage, "default", "operation_1")).toBeUndefined();
    expect(expiresAtMs).toBeGreaterThan(KEPT_MS);
  });

  test("a part's job is stored under the name that earlier versions use", async () => {
    const { bench } = await start();
    await bench.add();
    const [row] = await bench.storage.query("SELECT parts FROM operations", []);
    expect(JSON.parse(String(row?.["parts"]))).toMatchObject([{ state: "waiting", ticket: { id: "job" } }]);
    expect((await bench.read()).parts).toEqual([WAITING]);
  });
});

describe("H30: an operation left by a process with another clock", () => {
  const HOUR_MS = 3_600_000;

  test("is taken after one lease, though its lease and its next poll are an hour ahead", async () => {
    const { bench, process } = await start();
    const operation = bench.operation({ dueAtMs: bench.nowMs + HOUR_MS + LEASE_MS });
    await insertOperation(bench.storage, operation, { owner: "ahead", untilMs: bench.nowMs + HOUR_MS + LEASE_MS });
    await process.operations.sweep();
    const taken = () => leaseDue(bench.storage, { owner: "here", untilMs: bench.nowMs + LEASE_MS }, bench.nowMs, 10);
    await bench.clock.pass(LEASE_MS - 10);
    expect(await taken()).toEqual([]);
    await bench.clock.pass(20);
    expect(await taken()).toHaveLength(1);
  });

  test("stays with a live process that renews its lease, however often others look", async () => {
    const { bench, process } = await start();
    await insertOperation(bench.storage, bench.operation(), { owner: "lives", untilMs: bench.nowMs + LEASE_MS });
    for (let looks = 0; looks < 10; looks++) {
      await bench.clock.pass(LEASE_MS / 3);
      await process.operations.sweep();
      expect(await renewLease(bench.storage, "operation_1", { owner: "lives", untilMs: bench.nowMs + LEASE_MS })).toBe(
        true,
      );
      expect(await leaseDue(bench.storage, { owner: "here", untilMs: bench.nowMs }, bench.nowMs, 10)).toEqual([]);
    }
  });
});
