import { describe, expect, test } from "bun:test";
import { type ErrorKind, GatewayError } from "../canon/error.ts";
import type { KeptVideo, OperationPart } from "../canon/operation.ts";
import type { JobState } from "../media/adapter.ts";
import type { VideoReply } from "../media/video-reply.ts";
import { StorageTimeout } from "../storage/storage-timeout.ts";
import { insertOperation, leaseDue, saveOperation } from "../storage/tables/operations.ts";
import type { JobRunner } from "./poller.ts";
import { Bench, COST_NANO_USD, KEPT, LEASE_MS, LINK, waitingPart } from "./process.sample.ts";

const DONE: JobState<VideoReply> = { state: "done", reply: { videos: [LINK], filtered: [] } };
const RUNNING: JobState<VideoReply> = { state: "waiting", job: { id: "job" } };
const failure = (kind: ErrorKind, message: string) => new GatewayError(kind, message);
const full = () => failure("overloaded", "The file store is full.");

/** Polls that return these states in order, the last one repeatedly, and the times of the polls. */
function playPolls(bench: Bench, ...states: (JobState<VideoReply> | Error)[]) {
  const startedAtMs = bench.nowMs;
  const times: number[] = [];
  const poll: JobRunner["poll"] = async () => {
    times.push(bench.nowMs - startedAtMs);
    const state = (states.length > 1 ? states.shift() : states[0]) ?? RUNNING;
    if (state instanceof Error) throw state;
    return state;
  };
  return { poll, times };
}

describe("how often a provider is polled", () => {
  test("at the interval of its API, or when its response says", async () => {
    const bench = await Bench.open();
    const later: JobState<VideoReply> = { ...RUNNING, afterMs: 3_000 };
    const { poll, times } = playPolls(bench, RUNNING, later, RUNNING, DONE);
    const { poller } = bench.process("process", { poll });
    await bench.add();
    poller.start();
    poller.start();
    await bench.ended();
    expect(times).toEqual([0, 10_000, 13_000, 23_000]);
  });

  test("after a failure twice as long, and twice as long again, up to a minute; then the job has failed", async () => {
    const bench = await Bench.open();
    const { poll, times } = playPolls(bench, failure("upstream_failed", "no answer"));
    await bench.add();
    bench.process("process", { poll }).poller.start();
    const ended = await bench.ended();
    expect(times).toEqual([0, 20_000, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000, 420_000]);
    expect(ended).toMatchObject({ state: "failed", error: { kind: "upstream_failed", message: "no answer" } });
  });

  test("a short interval grows to 64 times its length, and no further", async () => {
    const bench = await Bench.open();
    const { poll, times } = playPolls(bench, failure("upstream_failed", "no answer"));
    await bench.add();
    bench.process("process", { poll, pollIntervalMs: () => 500 }).poller.start();
    await bench.ended();
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]);
  });

  test("a success in between makes the pauses short again", async () => {
    const bench = await Bench.open();
    const broken = failure("upstream_failed", "no answer");
    const { poll, times } = playPolls(bench, broken, broken, RUNNING, broken, DONE);
    await bench.add();
    bench.process("process", { poll }).poller.start();
    expect((await bench.ended()).parts[0]?.failures).toBe(0);
    expect(times).toEqual([0, 20_000, 60_000, 70_000, 90_000]);
  });

  test("never again if the job is not found", async () => {
    const bench = await Bench.open();
    const { poll, times } = playPolls(bench, failure("not_found", "no such job"));
    await bench.add();
    bench.process("process", { poll }).poller.start();
    expect((await bench.ended()).error?.kind).toBe("not_found");
    expect(times).toEqual([0]);
  });

  test("each part at its own time", async () => {
    const bench = await Bench.open();
    const asked: string[] = [];
    const poll: JobRunner["poll"] = async (_operation, { providerJob }) => {
      asked.push(`${providerJob?.["id"]} at ${bench.nowMs - startedAtMs}`);
      return asked.length < 4 ? { state: "waiting", job: providerJob ?? {} } : DONE;
    };
    const startedAtMs = bench.nowMs;
    const parts = [
      waitingPart({ providerJob: { id: "a" }, dueAtMs: startedAtMs }),
      waitingPart({ providerJob: { id: "b" }, dueAtMs: startedAtMs + 4_000 }),
    ];
    await bench.add({ parts });
    bench.process("process", { poll }).poller.start();
    await bench.ended();
    expect(asked).toEqual(["a at 0", "b at 4000", "a at 10000", "b at 14000", "a at 20000"]);
  });
});

describe("the result of a job", () => {
  test("progress and the latest name of the job are saved", async () => {
    const bench = await Bench.open();
    const { poll } = playPolls(bench, { state: "waiting", job: { id: "renamed" }, progress: 30 }, RUNNING);
    await bench.add();
    bench.process("process", { poll }).poller.start();
    await bench.clock.pass(1_000);
    expect((await bench.read()).parts).toMatchObject([{ providerJob: { id: "renamed" }, progress: 30 }]);
    await bench.clock.pass(10_000);
    expect((await bench.read()).parts).toMatchObject([{ providerJob: { id: "job" }, progress: 30 }]);
  });

  test("a job that failed ends its part with the provider's reason", async () => {
    const bench = await Bench.open();
    const { poll } = playPolls(bench, { state: "failed", error: failure("content_blocked", "a fox") });
    const { poller, budget } = bench.process("process", { poll });
    await bench.add();
    poller.start();
    expect(await bench.ended()).toMatchObject({
      state: "failed",
      error: { kind: "content_blocked", message: "a fox" },
    });
    expect(budget.spent).toBe(0);
  });

  test("a blocked video is stored with its reasons, next to the generated ones", async () => {
    const bench = await Bench.open();
    const { poll } = playPolls(bench, { state: "done", reply: { videos: [LINK], filtered: ["a fox"] } });
    await bench.add();
    bench.process("process", { poll }).poller.start();
    expect(await bench.ended()).toMatchObject({ state: "done", parts: [{ state: "done", filtered: ["a fox"] }] });
  });

  test("each video is saved as soon as it is stored, and none is fetched twice after a failure", async () => {
    const bench = await Bench.open();
    const urls = ["/1", "/2", "/3"].map((url) => ({ ...LINK, url }));
    const { poll } = playPolls(bench, { state: "done", reply: { videos: urls, filtered: [] } });
    const fetched: string[] = [];
    const keep: JobRunner["keep"] = async (_operation, source) => {
      const url = "url" in source ? source.url : "";
      fetched.push(url);
      if (url === "/2" && fetched.length === 2) {
        await bench.clock.sleep(5_000);
        throw failure("upstream_failed", "broken");
      }
      return { file: `file_${url}`, mimeType: "video/mp4" };
    };
    await bench.add({ parts: [waitingPart({ count: 3 })] });
    bench.process("process", { poll, keep }).poller.start();
    await bench.clock.pass(1_000);
    expect((await bench.read()).parts[0]?.videos).toHaveLength(1);
    const { parts } = await bench.ended();
    expect(fetched).toEqual(["/1", "/2", "/2", "/3"]);
    expect(parts[0]?.videos.map(({ file }) => file)).toEqual(["file_/1", "file_/2", "file_/3"]);
  });

  test.each([-5, 0, 3_600.5, 1e300, Number.POSITIVE_INFINITY, Number.NaN])(
    "H26: a reported length of %p seconds is impossible: the requested one is billed",
    async (seconds) => {
      const bench = await Bench.open();
      const { poll } = playPolls(bench, { state: "done", reply: { videos: [LINK], filtered: [], seconds } });
      const { poller, budget } = bench.process("process", { poll });
      await bench.add();
      poller.start();
      await bench.ended();
      expect(budget.spent).toBe(COST_NANO_USD);
    },
  );

  test("H26: what the provider reports of its video is billed", async () => {
    const bench = await Bench.open();
    const reply = { videos: [LINK], filtered: [], seconds: 3_600, resolution: "480p", audio: true };
    const { poll } = playPolls(bench, { state: "done", reply });
    const { poller, budget } = bench.process("process", { poll });
    await bench.add();
    poller.start();
    expect((await bench.ended()).parts).toMatchObject([{ seconds: 3_600, resolution: "480p", audio: true }]);
    expect(budget.spent).toBe(720 * COST_NANO_USD);
  });
});

describe("choices 5: the deadline of an operation", () => {
  test("ends what is still running at that moment, and keeps what was generated", async () => {
    const bench = await Bench.open();
    const poll: JobRunner["poll"] = async (_operation, { providerJob }) =>
      providerJob?.["id"] === "a" ? DONE : RUNNING;
    const parts = [waitingPart({ providerJob: { id: "a" } }), waitingPart()];
    const { createdAtMs } = await bench.add({ parts, deadlineAtMs: bench.nowMs + 25_000 });
    const { poller, budget } = bench.process("process", { poll });
    poller.start();
    const ended = await bench.ended();
    expect((ended.endedAtMs ?? 0) - createdAtMs).toBe(25_000);
    expect(ended).toMatchObject({
      state: "done",
      parts: [{ state: "done" }, { state: "failed", error: { kind: "upstream_timeout" } }],
    });
    expect(budget.spent).toBe(COST_NANO_USD);
  });
});

describe("decision 0019: a video that was generated and cannot be stored", () => {
  /** This many attempts to store it fail. */
  const failing = (times: number, error: () => Error): JobRunner["keep"] => {
    let attempts = 0;
    return async (): Promise<KeptVideo> => {
      attempts += 1;
      if (attempts <= times) throw error();
      return KEPT;
    };
  };

  test("is retried every four intervals, however often it fails, and stored when there is space", async () => {
    const bench = await Bench.open();
    const { poll, times } = playPolls(bench, DONE);
    const { poller, budget, unkept } = bench.process("process", { poll, keep: failing(19, full) });
    await bench.add();
    poller.start();
    await bench.clock.pass(100_000);
    expect((await bench.read()).parts[0]?.unkept).toMatchObject({ kind: "overloaded", made: 1 });
    const ended = await bench.ended();
    expect(ended).toMatchObject({ state: "done", parts: [{ state: "done", failures: 0, videos: [KEPT] }] });
    expect(ended.parts[0]?.unkept).toBeUndefined();
    expect(times.slice(0, 4)).toEqual([0, 40_000, 80_000, 120_000]);
    expect(unkept.map(({ id, error }) => `${id}: ${error.message}`)).toEqual(
      Array.from({ length: 19 }, () => "operation_1: The file store is full."),
    );
    expect(budget.spent).toBe(COST_NANO_USD);
  });

  test("waits at most a minute", async () => {
    const bench = await Bench.open();
    const { poll, times } = playPolls(bench, DONE);
    await bench.add();
    bench.process("process", { poll, keep: failing(2, full), pollIntervalMs: () => 50_000 }).poller.start();
    await bench.ended();
    expect(times).toEqual([0, 60_000, 120_000]);
  });

  test("H29: an unavailable storage counts like a full store", async () => {
    const bench = await Bench.open();
    const keep = failing(19, () => new StorageTimeout(1));
    const { poller, budget } = bench.process("process", { keep });
    await bench.add();
    poller.start();
    expect(await bench.ended()).toMatchObject({ state: "done", parts: [{ state: "done", videos: [KEPT] }] });
    expect(budget.spent).toBe(COST_NANO_USD);
  });

  test("finally fails with the store's reason, and is billed, because its provider bills it", async () => {
    const bench = await Bench.open();
    const reply = { videos: [LINK, LINK], filtered: [], seconds: 10 };
    const { poll } = playPolls(bench, { state: "done", reply });
    const { poller, budget } = bench.process("process", { poll, keep: failing(1e9, full) });
    await bench.add({ deadlineAtMs: bench.nowMs + 50_000 });
    poller.start();
    expect(await bench.ended()).toMatchObject({
      state: "failed",
      error: { kind: "overloaded", message: "The file store is full." },
    });
    expect(budget).toEqual({ reserved: 0, spent: 4 * COST_NANO_USD });
  });

  test("is billed even if its link expires before there is space", async () => {
    const bench = await Bench.open();
    let attempts = 0;
    const keep: JobRunner["keep"] = async () => {
      throw attempts++ === 0 ? full() : failure("upstream_failed", "The link is dead.");
    };
    const { poller, budget } = bench.process("process", { keep });
    await bench.add();
    poller.start();
    expect((await bench.ended()).error).toEqual({ kind: "upstream_failed", message: "The link is dead." });
    expect(budget.spent).toBe(COST_NANO_USD);
  });

  test("a video that could not be fetched for another reason costs nothing", async () => {
    const bench = await Bench.open();
    const keep: JobRunner["keep"] = async () => {
      throw failure("upstream_failed", "The link is dead.");
    };
    const { poller, budget, unkept } = bench.process("process", { keep });
    await bench.add();
    poller.start();
    expect((await bench.ended()).state).toBe("failed");
    expect([budget.spent, unkept]).toEqual([0, []]);
  });

  test("a poll that fails for the gateway's own reason is a failure like any other", async () => {
    const bench = await Bench.open();
    const { poll, times } = playPolls(bench, failure("internal", "a mistake"));
    const { poller, unkept } = bench.process("process", { poll });
    await bench.add();
    poller.start();
    expect((await bench.ended()).error?.message).toBe("a mistake");
    expect([times.length, unkept]).toEqual([9, []]);
  });
});

describe("choices 5: an operation whose process died while it was being submitted", () => {
  const dead = { owner: "dead", untilMs: 0 };

  test("without any jobs has failed, and does not count as done without videos", async () => {
    const bench = await Bench.open();
    await insertOperation(bench.storage, bench.operation({ state: "submitting", parts: [] }), dead);
    bench.process("alive").poller.start();
    const { state, error } = await bench.ended();
    expect(state).toBe("failed");
    expect(error).toEqual({
      kind: "upstream_failed",
      message:
        "The gateway was stopped while it was submitting this video. Submit it again, with a new Idempotency-Key if it had one.",
    });
  });

  test("keeps the known jobs, and ends those that may or may not have arrived", async () => {
    const bench = await Bench.open();
    const parts: OperationPart[] = [waitingPart(), waitingPart({ state: "asking" }), waitingPart({ state: "new" })];
    await insertOperation(bench.storage, bench.operation({ state: "submitting", parts }), dead);
    bench.process("alive").poller.start();
    const ended = await bench.ended();
    expect(ended).toMatchObject({
      state: "done",
      parts: [{ state: "done" }, { state: "failed" }, { state: "failed" }],
    });
    expect(ended.parts.map(({ uncertain }) => uncertain)).toEqual([undefined, true, undefined]);
  });

  test("is left alone during its lease", async () => {
    const bench = await Bench.open();
    const operation = bench.operation({ state: "submitting", parts: [] });
    await insertOperation(bench.storage, operation, { owner: "slow", untilMs: bench.nowMs + 30_000 });
    bench.process("alive").poller.start();
    await bench.clock.pass(29_000);
    expect((await bench.read()).state).toBe("submitting");
    await bench.clock.pass(4_000);
    expect((await bench.read()).state).toBe("failed");
  });
});

describe("a lease", () => {
  test("is renewed while its worker is busy: no other polls or fetches", async () => {
    const bench = await Bench.open();
    let fetches = 0;
    const keep: JobRunner["keep"] = async () => {
      fetches += 1;
      await bench.clock.sleep(5 * LEASE_MS);
      return KEPT;
    };
    await bench.add();
    bench.process("one", { keep }).poller.start();
    bench.process("two", { keep }).poller.start();
    const { endedAtMs = 0, createdAtMs } = await bench.ended();
    expect([fetches, endedAtMs - createdAtMs]).toEqual([1, 5 * LEASE_MS]);
  });

  test("that expired saves nothing, even if the next owner is in the same process", async () => {
    const bench = await Bench.open();
    const kept = [Promise.withResolvers<KeptVideo>(), Promise.withResolvers<KeptVideo>()];
    let fetches = 0;
    const signals: AbortSignal[] = [];
    const keep: JobRunner["keep"] = async (_operation, _source, signal) => {
      signals.push(signal);
      return (await kept[fetches++]?.promise) ?? KEPT;
    };
    const { poller, problems } = bench.process("process", { keep });
    await bench.add();
    poller.start();
    await bench.clock.pass(1_000);
    // The process was suspended, and its renewals with it.
    await bench.storage.query("UPDATE operations SET lease_until_ms = 0");
    await bench.clock.pass(5_000);
    expect(fetches).toBe(2);
    kept[0]?.resolve({ file: "file_old", mimeType: "video/mp4" });
    await bench.clock.pass(1_000);
    expect((await bench.read()).parts).toMatchObject([{ videos: [] }]);
    kept[1]?.resolve({ file: "file_new", mimeType: "video/mp4" });
    const { parts } = await bench.ended();
    expect(parts[0]?.videos).toEqual([{ file: "file_new", mimeType: "video/mp4" }]);
    expect(problems).toEqual([]);
  });

  test("that another process took ends the work of the first at its next renewal", async () => {
    const bench = await Bench.open();
    let aborted: unknown;
    const keep: JobRunner["keep"] = (_operation, _source, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted = signal.reason;
          reject(new Error("aborted"));
        });
      });
    const { poller, problems } = bench.process("one", { keep });
    await bench.add();
    poller.start();
    await bench.clock.pass(1_000);
    await bench.storage.query("UPDATE operations SET lease_owner = 'two', lease_until_ms = ?", [bench.nowMs * 2]);
    await bench.clock.pass(LEASE_MS / 3 - 1_001);
    expect(aborted).toBeUndefined();
    await bench.clock.pass(1);
    expect(aborted).toBeInstanceOf(Error);
    expect(problems).toEqual([]);
    expect((await bench.read()).parts[0]?.failures).toBe(0);
  });

  test("is released at once by a process that stops", async () => {
    const bench = await Bench.open();
    const keep: JobRunner["keep"] = (_operation, _source, signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const stopping = bench.process("one", { keep });
    await bench.add();
    stopping.poller.start();
    await bench.clock.pass(1_000);
    await stopping.poller.stop();
    const [row] = await bench.storage.query("SELECT lease_owner FROM operations");
    expect([row?.["lease_owner"], stopping.problems]).toEqual([null, []]);
    const next = bench.process("two");
    next.poller.start();
    await bench.clock.pass(0);
    expect((await bench.read()).state).toBe("done");
    expect(stopping.budget.spent + next.budget.spent).toBe(COST_NANO_USD);
  });

  test("that was not released is taken when it has expired, and not before", async () => {
    const bench = await Bench.open();
    const operation = bench.operation();
    await insertOperation(bench.storage, operation, { owner: "slow", untilMs: bench.nowMs - 1 });
    const lease = (owner: string) => ({ owner, untilMs: bench.nowMs + LEASE_MS });
    expect(await leaseDue(bench.storage, lease("quick"), bench.nowMs, 10)).toHaveLength(1);
    expect(await leaseDue(bench.storage, lease("third"), bench.nowMs, 10)).toEqual([]);
    expect(await saveOperation(bench.storage, operation, "slow", true)).toBe(false);
    expect(await saveOperation(bench.storage, operation, "quick", true)).toBe(true);
  });
});

describe("the poller", () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `operation_${index + 1}`);

  test("works on sixteen operations at once, and takes the next one when one of them ends", async () => {
    const bench = await Bench.open();
    for (const id of ids(20)) await bench.add({ id, receiptId: `rcp_${id}` });
    const going: (() => void)[] = [];
    let most = 0;
    let now = 0;
    const keep: JobRunner["keep"] = async () => {
      most = Math.max(most, ++now);
      await new Promise<void>((resolve) => going.push(resolve));
      now -= 1;
      return KEPT;
    };
    bench.process("process", { keep }).poller.start();
    await bench.clock.pass(10_000);
    expect([most, going.length]).toEqual([16, 16]);
    going[0]?.();
    await bench.clock.pass(0);
    expect([most, going.length]).toEqual([16, 17]);
    for (let index = 1; index < 20; index++) {
      await bench.clock.pass(0);
      going[index]?.();
    }
    await bench.clock.pass(10_000);
    for (const id of ids(20)) expect((await bench.read(id)).state).toBe("done");
    expect(most).toBe(16);
  });

  test("finds what another process has left within two seconds, and starts at once when woken", async () => {
    const bench = await Bench.open();
    const { poller } = bench.process();
    poller.start();
    await bench.clock.pass(500);
    await bench.add();
    await bench.clock.pass(1_499);
    expect((await bench.read()).state).toBe("running");
    await bench.clock.pass(1);
    expect((await bench.read()).state).toBe("done");
    await bench.clock.pass(500);
    await bench.add({ id: "operation_2", receiptId: "rcp_2" });
    poller.wake();
    await bench.clock.pass(0);
    expect((await bench.read("operation_2")).state).toBe("done");
  });

  test("looks at most every twenty milliseconds if more is due than it can take", async () => {
    const bench = await Bench.open();
    for (const id of ids(17)) await bench.add({ id, receiptId: `rcp_${id}` });
    const query = bench.storage.query.bind(bench.storage);
    let looks = 0;
    bench.storage.query = (text, ...rest) => {
      if (text.includes("MIN(CASE")) looks += 1;
      return query(text, ...rest);
    };
    bench.process("process", { keep: () => new Promise(() => {}) }).poller.start();
    await bench.clock.pass(2_000);
    expect(looks).toBeWithin(90, 103);
  });

  test("H29: continues if the storage fails, and reports it", async () => {
    const bench = await Bench.open();
    const { poller, problems } = bench.process();
    const query = bench.storage.query.bind(bench.storage);
    bench.storage.query = () => Promise.reject(new StorageTimeout(1));
    poller.start();
    await bench.clock.pass(10_000);
    expect(problems.length).toBeWithin(2, 20);
    bench.storage.query = query;
    await bench.add();
    await bench.clock.pass(2_000);
    expect((await bench.read()).state).toBe("done");
  });

  test("H29: an operation whose state could not be saved is taken up again when its lease has expired", async () => {
    const bench = await Bench.open();
    const { poll, times } = playPolls(bench, RUNNING, DONE);
    const { poller, problems } = bench.process("process", { poll });
    await bench.add();
    const query = bench.storage.query.bind(bench.storage);
    let failures = 1;
    bench.storage.query = (text, ...rest) =>
      text.includes("SET state") && failures-- > 0 ? Promise.reject(new StorageTimeout(1)) : query(text, ...rest);
    poller.start();
    await bench.ended();
    expect(problems).toEqual([expect.any(StorageTimeout)]);
    expect(times[1]).toBeWithin(LEASE_MS, LEASE_MS + 2_001);
  });

  test("H23: releases the money reserved here for what another process has settled", async () => {
    const bench = await Bench.open();
    const [here, elsewhere] = [bench.process("here"), bench.process("elsewhere")];
    here.operations.reserve(await bench.add());
    elsewhere.poller.start();
    await bench.ended();
    await elsewhere.poller.stop();
    expect(here.budget).toEqual({ reserved: COST_NANO_USD, spent: 0 });
    here.poller.start();
    await bench.clock.pass(2_000);
    expect(here.budget).toEqual({ reserved: 0, spent: COST_NANO_USD });
  });

  test("stops at once, in the middle of its sleep", async () => {
    const bench = await Bench.open();
    const { poller } = bench.process();
    poller.start();
    await bench.clock.pass(1);
    await poller.stop();
    expect(bench.clock.timers).toBe(0);
    await bench.add();
    await bench.clock.pass(10_000);
    expect((await bench.read()).state).toBe("running");
  });
});
