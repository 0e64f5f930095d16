import { describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { numberAt } from "../base/json.ts";
import type { Storage } from "../storage/storage.ts";
import { insertInstance } from "../storage/tables/instances.ts";
import { insertAnswer, selectQuestions } from "../storage/tables/questions.ts";
import { Questions } from "./questions.ts";

const POLL_MS = 500;

/** Processes on one storage. Each is asked for its number, and remembers the commands that it got. */
class World {
  readonly clock = new VirtualClock();
  readonly problems: unknown[] = [];
  readonly done: string[] = [];
  /** The processes that have ended without removing their row, by name. */
  readonly ended = new Set<string>();
  storage!: Storage;

  static async start(): Promise<World> {
    const world = new World();
    world.storage = await openMemoryStorage(world.clock);
    return world;
  }

  async join(id: string, { answer = 1, polls = true, storage = this.storage, hasOthers = true } = {}) {
    await insertInstance(this.storage, { id, place: `host, ${id}`, process: id, startedAtMs: 0, shares: "x" });
    const questions = new Questions({
      storage,
      clock: this.clock,
      instance: id,
      hasOthers,
      hasEnded: (process) => this.ended.has(process),
      seen: () => [{ id: "seen", place: "seen before" }],
      onProblem: (error) => this.problems.push(error),
    });
    questions.answer("number", () => ({ number: answer }));
    questions.answer("stop", ({ id: what }) => {
      this.done.push(`${id} stops ${what}`);
      return { number: what === id ? answer : 0 };
    });
    const poll = async () => questions.heard((await storage.changeStamp()).questions);
    const cancel = polls ? this.clock.every(POLL_MS, () => void poll().catch(() => {})) : () => {};
    return { questions, poll, cancel };
  }

  async rows(): Promise<number> {
    const tables = ["questions", "question_answers"];
    const counts = await Promise.all(tables.map((table) => this.storage.query(`SELECT COUNT(*) AS n FROM ${table}`)));
    return counts.reduce((sum, [row]) => sum + Number(row?.["n"]), 0);
  }
}

const NUMBER = {
  kind: "number",
  details: {},
  read: (answer: object) => numberAt(answer, "number"),
};
const stop = (id: string) => ({
  ...NUMBER,
  kind: "stop",
  details: { id },
  settles: (answer: number) => answer > 0,
});

describe("decision 0129: a process asks all others", () => {
  test("every process answers at its next poll, and no row is left", async () => {
    const world = await World.start();
    const { questions } = await world.join("a", { answer: 1 });
    await world.join("b", { answer: 2 });
    await world.join("c", { answer: 3 });
    const gathered = await world.clock.until(questions.ask(NUMBER));
    expect(gathered).toEqual({
      answers: [
        { instance: "a", answer: 1 },
        { instance: "b", answer: 2 },
        { instance: "c", answer: 3 },
      ],
      unanswered: [],
      problem: undefined,
    });
    expect(world.clock.passedMs).toBeLessThanOrEqual(POLL_MS + 200);
    await world.clock.pass(10);
    expect(await world.rows()).toBe(0);
    expect(world.problems).toEqual([]);
  });

  test("a process that has the storage to itself answers from memory, without a statement", async () => {
    const world = await World.start();
    const none = new Proxy(world.storage, {
      get: (_storage, name) => {
        throw new Error(`used ${String(name)}`);
      },
    });
    const { questions } = await world.join("a", { storage: none, hasOthers: false, polls: false });
    expect(await questions.ask(NUMBER)).toMatchObject({ answers: [{ answer: 1 }], unanswered: [] });
    expect(world.clock.passedMs).toBe(0);
  });

  test("an only process that may have others writes nothing", async () => {
    const world = await World.start();
    const { questions } = await world.join("a");
    const stamp = await world.storage.changeStamp();
    expect(await questions.ask(NUMBER)).toMatchObject({ answers: [{ answer: 1 }], unanswered: [], problem: undefined });
    expect(await world.storage.changeStamp()).toEqual(stamp);
  });

  test("a frozen process is named after 1.5 s, and does nothing for the question when it continues", async () => {
    const world = await World.start();
    const { questions } = await world.join("a");
    await world.join("b", { answer: 2 });
    const frozen = await world.join("c", { polls: false });
    const gathered = await world.clock.until(questions.ask(stop("nobody")));
    expect(gathered.answers.map(({ instance }) => instance)).toEqual(["a", "b"]);
    expect(gathered.unanswered).toEqual([{ id: "c", place: "host, c" }]);
    expect(world.clock.passedMs).toBe(1_500);
    await world.clock.pass(10);
    await frozen.poll();
    await world.clock.pass(10);
    expect(world.done).toEqual(["a stops nobody", "b stops nobody"]);
    expect(await world.rows()).toBe(0);
  });

  test("no answer is awaited from a process that is known to be dead", async () => {
    const world = await World.start();
    const { questions } = await world.join("a");
    await world.join("b", { polls: false });
    world.ended.add("b");
    expect(await world.clock.until(questions.ask(NUMBER))).toMatchObject({ answers: [{}], unanswered: [] });
    expect(world.clock.passedMs).toBe(0);
  });

  test("a question that one process settles goes to no other process, and has its effect once", async () => {
    const world = await World.start();
    const { questions } = await world.join("a", { answer: 1 });
    await world.join("b", { answer: 2 });
    await world.join("c", { polls: false });
    const gathered = await world.clock.until(questions.ask(stop("b")));
    expect(gathered.answers).toContainEqual({ instance: "b", answer: 2 });
    expect([gathered.unanswered, world.clock.passedMs < 1_500]).toEqual([[], true]);
    await world.clock.pass(5_000);
    expect(world.done.filter((what) => what === "b stops b")).toHaveLength(1);
    // Here it needs no other process.
    await world.clock.until(questions.ask(stop("a")));
    await world.clock.pass(1_000);
    expect(world.done.filter((what) => what.endsWith("stops a"))).toEqual(["a stops a"]);
  });

  test("two processes that ask at once get all answers, and those who ask the same share one question", async () => {
    const world = await World.start();
    const { questions: a } = await world.join("a", { answer: 1 });
    const { questions: b } = await world.join("b", { answer: 2 });
    const before = (await world.storage.changeStamp()).questions;
    const all = await world.clock.until(Promise.all([a.look(NUMBER), a.look(NUMBER), b.ask(NUMBER)]));
    for (const { answers, unanswered } of all) {
      expect(answers.map(({ answer }) => answer).sort()).toEqual([1, 2]);
      expect(unanswered).toEqual([]);
    }
    expect((await world.storage.changeStamp()).questions - before).toBe(2);
    await world.clock.pass(10);
    expect(await world.rows()).toBe(0);
  });

  test.each([
    ["is no JSON", "{"],
    ["is no object", "7"],
    ["has another form", '{"number":"a lot"}'],
    ["is larger than any answer", JSON.stringify({ number: 5, more: "x".repeat(1_000_001) })],
  ])("an answer that %s counts as none", async (_what, answer) => {
    const world = await World.start();
    const { questions } = await world.join("a");
    await world.join("liar", { polls: false });
    const asking = questions.ask(NUMBER);
    await world.clock.pass(20);
    const [question] = await selectQuestions(world.storage, 0);
    await insertAnswer(world.storage, { question: question?.number ?? 0, instance: "liar", answer });
    await insertAnswer(world.storage, {
      question: question?.number ?? 0,
      instance: "stranger",
      answer: '{"number":9}',
    });
    const gathered = await world.clock.until(asking);
    expect(gathered.answers).toEqual([{ instance: "a", answer: 1 }]);
    expect(gathered.unanswered.map(({ id }) => id)).toEqual(["liar"]);
    await world.clock.pass(10);
    expect(await world.rows()).toBe(0);
  });

  test("a question of a kind that a process does not know gets no answer from it", async () => {
    const world = await World.start();
    const { questions } = await world.join("a");
    await world.join("b");
    questions.answer("new", () => ({ number: 1 }));
    const gathered = await world.clock.until(questions.ask({ ...NUMBER, kind: "new" }));
    expect(gathered.unanswered.map(({ id }) => id)).toEqual(["b"]);
  });

  test("H29: if the storage is unavailable, the process answers for itself and reports the problem", async () => {
    const world = await World.start();
    const down: Storage = {
      ...bound(world.storage),
      query: () => Promise.reject(new Error("down")),
      transaction: () => Promise.reject(new Error("down")),
    };
    const { questions } = await world.join("a", { storage: down, polls: false });
    expect(await world.clock.until(questions.ask(NUMBER))).toEqual({
      answers: [{ instance: "a", answer: 1 }],
      unanswered: [{ id: "seen", place: "seen before" }],
      problem: "The database could not store the question or its answers.",
    });
    expect(world.problems).toHaveLength(1);
  });

  test("H29: a storage that hangs delays an answer by no more than 1.5 s, and a late question is removed", async () => {
    const world = await World.start();
    const { storage, clock } = world;
    const slow: Storage = {
      ...bound(storage),
      transaction: async (work) => {
        await clock.sleep(4_000);
        return await storage.transaction(work);
      },
    };
    const { questions } = await world.join("a", { storage: slow });
    await world.join("b");
    const gathered = await clock.until(questions.ask(NUMBER));
    expect(clock.passedMs).toBe(1_500);
    expect(gathered).toMatchObject({ unanswered: [{ id: "b" }], problem: expect.stringContaining("database") });
    await clock.pass(6_000);
    expect(await world.rows()).toBe(0);
  });

  test("the rows of a process that died while it asked are removed by the next question", async () => {
    const world = await World.start();
    const { questions } = await world.join("a");
    await world.join("b");
    await world.storage.query(
      "INSERT INTO questions (number, asker, kind, details, asked_at_ms) VALUES (0, 'dead', 'number', '{}', 0)",
    );
    await world.storage.query("INSERT INTO question_answers (question, instance, answer) VALUES (0, 'b', '{}')");
    await world.storage.query("INSERT INTO question_answers (question, instance, answer) VALUES (-1, 'b', '{}')");
    await world.clock.pass(300_001);
    await world.clock.until(questions.ask(NUMBER));
    await world.clock.pass(10);
    expect(await world.rows()).toBe(0);
  });
});

/** The methods of a storage, which can be spread. */
const bound = (storage: Storage): Storage => ({
  engine: storage.engine,
  query: (...given) => storage.query(...given),
  transaction: (...given) => storage.transaction(...given),
  runForEach: (...given) => storage.runForEach(...given),
  changeStamp: () => storage.changeStamp(),
  close: () => storage.close(),
});
