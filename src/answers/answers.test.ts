import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../testing/eventually.ts";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { Answers, type History, type NewAnswer, type NoHistory } from "./answers.ts";
import { Sealer } from "./sealer.ts";

const HOUR = 3_600_000;
const KEY = new Uint8Array(32).fill(1);
const PLENTY = 64 * 1024 * 1024;

const clock = new VirtualClock();
const problems: string[] = [];

function open(storage: Storage, changes: { key?: Uint8Array; maxBytes?: number } = {}): Answers {
  return new Answers({
    storage,
    conversations: { before: () => Promise.resolve("missing") },
    sealer: new Sealer(changes.key ?? KEY, system.random),
    limits: { retentionMs: 168 * HOUR, maxBytes: changes.maxBytes ?? 1024 ** 3 },
    clock,
    onProblem: (_error, what) => void problems.push(what),
  });
}

const sample = (changes: Partial<NewAnswer> = {}): NewAnswer => ({
  id: "resp_1",
  project: "default",
  keyId: "key_1",
  share: "project",
  history: [],
  input: '[{"role":"user","content":"The secret word is Kupfer."}]',
  answer: '{"id":"resp_1","output":[{"id":"msg_1"}]}',
  itemIds: ["msg_1"],
  ...changes,
});

const reader = (project = "default", keyId = "key_1") => ({ project, keyId });
const anyone = () => true;

const look = (answers: Answers, id: string, project = "default", keyId = "key_1"): Promise<History | NoHistory> =>
  answers.history(reader(project, keyId), id, PLENTY, () => {});

/** A conversation of `turns` turns. */
async function converse(answers: Answers, turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn++) {
    const before = turn === 1 ? undefined : await look(answers, `resp_${turn - 1}`);
    const history = before !== undefined && "heads" in before ? before.heads : [];
    const id = `resp_${turn}`;
    await answers.keep(
      sample({ id, history, input: `["in ${turn}"]`, answer: `"out ${turn}"`, itemIds: [`msg_${turn}`] }),
    );
  }
}

/** Tests that every engine must pass. */
function answersContract(databases: TestDatabases): void {
  describe(`stored answers on ${databases.engine}`, () => {
    let storage: Storage;
    let answers: Answers;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
      answers = open(storage);
      problems.length = 0;
    });
    afterAll(() => databases.clear());

    test("an answer is found only by its own project, unchanged", async () => {
      await answers.keep(sample());
      const { input, answer } = sample();
      expect(await answers.find(reader(), "resp_1", () => {})).toEqual({ state: "done", input, answer });
      expect(await answers.find(reader("other"), "resp_1", () => {})).toBeUndefined();
      expect(await answers.find(reader(), "resp_2", () => {})).toBeUndefined();
      await storage.close();
    });

    test("the size of an answer is counted before it is read", async () => {
      await answers.keep(sample());
      const refuse = (bytes: number) => {
        throw new Error(`${bytes} are too many`);
      };
      const bytes = sample().input.length + sample().answer.length;
      await expect(answers.find(reader(), "resp_1", refuse)).rejects.toThrow(`${bytes} are too many`);
      await storage.close();
    });

    test("a storage that does not answer keeps a bounded number of answers in memory, and takes more once it answers", async () => {
      const gate = Promise.withResolvers<void>();
      const stuck: Storage = {
        engine: storage.engine,
        query: (...query) => storage.query(...query),
        runForEach: (...rows) => storage.runForEach(...rows),
        changeStamp: () => storage.changeStamp(),
        close: () => storage.close(),
        transaction: (...work) => gate.promise.then(() => storage.transaction(...work)),
      };
      const waiting = open(stuck);
      const large = JSON.stringify(Buffer.from(system.random.bytes(15 * 1024 * 1024)).toString("base64"));
      const keep = (n: number) => waiting.keep(sample({ id: `resp_${n}`, answer: large }));
      const kept = [1, 2, 3, 4, 5].map(keep);
      await expect(Promise.race(kept)).rejects.toThrow(/bytes of responses are already waiting for the storage/);
      gate.resolve();
      const outcomes = (await Promise.allSettled(kept)).map(({ status }) => status);
      expect(outcomes.filter((status) => status === "fulfilled")).toHaveLength(4);
      await Promise.all([6, 7, 8, 9].map(keep));
      const [row] = await storage.query("SELECT COUNT(*) AS kept FROM answers");
      expect(Number(row?.["kept"])).toBe(8);
      await storage.close();
    });

    test("no content can be read in the storage", async () => {
      await answers.keep(sample());
      const [row] = await storage.query("SELECT * FROM answers");
      const bytes = Object.values(row ?? {}).map((value) =>
        value instanceof Uint8Array ? Buffer.from(value) : String(value),
      );
      expect(bytes.length).toBeGreaterThan(8);
      for (const value of bytes) expect(value.includes("Kupfer")).toBe(false);
      expect(bytes.filter((value) => typeof value !== "string").length).toBe(2);
      await storage.close();
    });

    test("a row that is moved to another project, or read with another key, cannot be opened", async () => {
      await answers.keep(sample());
      expect(
        await open(storage, { key: new Uint8Array(32).fill(2) }).find(reader(), "resp_1", () => {}),
      ).toBeUndefined();
      expect(problems).toEqual([
        "the stored response resp_1 cannot be read: every instance on one storage needs the same responses.key in its data_dir",
      ]);
      await storage.query("DELETE FROM answer_items");
      await storage.query("UPDATE answers SET project = 'other'");
      expect(await answers.find(reader("other"), "resp_1", () => {})).toBeUndefined();
      expect(problems.length).toBe(2);
      await storage.close();
    });

    test("a conversation is read in order, by any process", async () => {
      await converse(answers, 3);
      const found = await look(open(storage), "resp_3");
      const said = "turns" in found ? found.turns.map(({ input, answer }) => [input, answer]) : found;
      expect(said).toEqual([
        ['["in 1"]', '"out 1"'],
        ['["in 2"]', '"out 2"'],
        ['["in 3"]', '"out 3"'],
      ]);
      const first = await look(answers, "resp_1");
      expect("turns" in first && first.turns.length).toBe(1);
      await storage.close();
    });

    test("the size of a conversation is bounded before any of it is read", async () => {
      await converse(answers, 3);
      const taken: number[] = [];
      const bytes = 3 * ('["in 1"]'.length + '"out 1"'.length);
      expect(await answers.history(reader(), "resp_3", bytes - 1, (held) => taken.push(held))).toEqual({ bytes });
      expect(taken).toEqual([]);
      await answers.history(reader(), "resp_3", bytes, (held) => taken.push(held));
      expect(taken).toEqual([bytes]);
      await storage.close();
    });

    test("S09: an answer of another project, an unknown one and one with an id of 1,000 characters are missing", async () => {
      await answers.keep(sample());
      expect(await look(answers, "resp_1", "other")).toEqual({ missing: "resp_1" });
      expect(await look(answers, "resp_9")).toEqual({ missing: "resp_9" });
      await answers.keep(sample({ id: "r".repeat(256), itemIds: [] }));
      expect(await answers.find(reader(), "r".repeat(256), () => {})).toBeDefined();
      const long = "r".repeat(1_000);
      expect(await look(answers, long)).toEqual({ missing: long });
      expect(await answers.delete("default", long, anyone)).toBe(false);
      await storage.close();
    });

    test("decision 0087: a private answer is only for the key that created it, however it is named", async () => {
      const shared = sample({ id: "resp_shared", answer: '"older"', itemIds: ["msg_1"] });
      await answers.keep(shared);
      await clock.pass(1_000);
      const own = sample({ share: "private", answer: '"newer"' });
      await answers.keep(own);
      const built = await look(answers, own.id);
      const history = "heads" in built ? built.heads : [];
      await answers.keep(sample({ id: "resp_2", history, itemIds: [] }));
      const sees = async (keyId: string) => {
        const items: string[] = [];
        await answers.lookForItems(reader("default", keyId), ["msg_1"], PLENTY, (answer) => items.push(answer));
        const turns: string[] = [];
        for await (const { id } of answers.inputTurns(reader("default", keyId), "resp_2", "asc", () => () => {}))
          turns.push(id);
        return [
          (await answers.find(reader("default", keyId), own.id, () => {}))?.answer,
          await answers.find(reader("default", keyId), shared.id, () => {}).then((found) => found?.answer),
          items,
          turns,
          "turns" in (await look(answers, "resp_2", "default", keyId)),
        ];
      };
      expect(await sees("key_1")).toEqual(['"newer"', '"older"', ['"newer"'], ["resp_1", "resp_2"], true]);
      expect(await sees("key_2")).toEqual([undefined, '"older"', ['"older"'], ["resp_2"], false]);
      expect(await look(answers, "resp_2", "default", "key_2")).toEqual({ missing: "resp_1" });
      const asked: (string | undefined)[] = [];
      const refuse = ({ keyId }: { keyId?: string | undefined }) => asked.push(keyId) < 0;
      expect(await answers.delete("default", own.id, refuse)).toBe(false);
      expect(asked).toEqual(["key_1"]);
      await storage.close();
    });

    test("an answer from before keys were recorded stays visible to its whole project", async () => {
      await answers.keep(sample());
      await storage.query("UPDATE answers SET key_id = NULL");
      expect(await answers.find(reader("default", "key_7"), "resp_1", () => {})).toBeDefined();
      expect(await answers.find(reader("other", "key_1"), "resp_1", () => {})).toBeUndefined();
      await storage.close();
    });

    test("a deleted turn is gone, and later turns cannot be continued", async () => {
      await converse(answers, 3);
      expect(await answers.delete("other", "resp_2", anyone)).toBe(false);
      expect(await answers.delete("default", "resp_2", anyone)).toBe(true);
      expect(await answers.delete("default", "resp_2", anyone)).toBe(false);
      expect(await look(answers, "resp_3")).toEqual({ missing: "resp_2" });
      expect(await answers.find(reader(), "resp_3", () => {})).toBeDefined();
      const [items] = await storage.query("SELECT COUNT(*) AS items FROM answer_items");
      expect(Number(items?.["items"])).toBe(2);
      await storage.close();
    });

    test("an answer expires unless later turns build on it; the sweep removes expired ones", async () => {
      await answers.keep(sample({ id: "resp_other" }));
      await converse(answers, 1);
      await clock.pass(100 * HOUR);
      const first = await look(answers, "resp_1");
      await answers.keep(sample({ id: "resp_2", history: "heads" in first ? first.heads : [] }));
      await clock.pass(69 * HOUR);
      expect(await look(answers, "resp_other")).toEqual({ missing: "resp_other" });
      const second = await look(answers, "resp_2");
      expect("turns" in second && second.turns.length).toBe(2);
      await answers.sweep();
      const rows = await storage.query("SELECT id FROM answers ORDER BY id");
      expect(rows.map((row) => row["id"])).toEqual(["resp_1", "resp_2"]);
      await storage.close();
    });

    test("items are found in the newest answer of their own project that holds them", async () => {
      await answers.keep(sample({ answer: '"older"', itemIds: ["msg_1", "rs_1"] }));
      await clock.pass(1_000);
      await answers.keep(sample({ id: "resp_2", answer: '"newer"', itemIds: ["msg_1", "msg_1"] }));
      await answers.keep(sample({ id: "resp_3", project: "other", answer: '"foreign"', itemIds: ["msg_1", "msg_7"] }));
      const found = async (...ids: string[]) => {
        const seen: string[] = [];
        await answers.lookForItems(reader(), ids, PLENTY, (answer) => seen.push(answer));
        return seen.sort();
      };
      expect(await found("msg_1")).toEqual(['"newer"']);
      expect(await found("msg_1", "rs_1")).toEqual(['"newer"', '"older"']);
      expect(await found("msg_7", "m".repeat(1_000))).toEqual([]);
      const many = Array.from({ length: 10_000 }, (_, index) => `msg_${index}`);
      expect(await found(...many)).toEqual(['"newer"']);
      const within: string[] = [];
      await answers.lookForItems(reader(), ["msg_1", "rs_1"], 8, (answer) => within.push(answer));
      expect(within.length).toBe(1);
      await storage.close();
    });

    test("beyond max_mb the oldest are deleted, starting with the project that has the most", async () => {
      const noise = () => JSON.stringify(Buffer.from(system.random.bytes(1_000)).toString("base64"));
      const small = open(storage, { maxBytes: 12_000 });
      for (let n = 0; n < 3; n++) {
        await small.keep(sample({ id: `quiet_${n}`, project: "quiet", answer: noise() }));
        await clock.pass(1_000);
      }
      for (let n = 0; n < 20; n++) {
        await small.keep(sample({ id: `loud_${n}`, project: "loud", answer: noise() }));
        await clock.pass(1_000);
      }
      // Each exceeds what may be written between two trims; a trim that is already running takes these with it,
      // however slow it is.
      const sizes = async () => Number((await storage.query("SELECT SUM(size) AS total FROM answers"))[0]?.["total"]);
      await eventually("a trim", async () => (await sizes()) <= 12_000, { seen: sizes });
      const left = (await storage.query("SELECT id, size FROM answers ORDER BY created_at_ms")).map((row) => row["id"]);
      expect(await sizes()).toBeGreaterThan(9_000);
      expect(left.slice(0, 3)).toEqual(["quiet_0", "quiet_1", "quiet_2"]);
      expect(left.at(-1)).toBe("loud_19");
      expect(small.fits(12_001)).toBe(false);
      await storage.close();
    });

    test("a pending answer ends once: after a cancellation nothing can replace it", async () => {
      await answers.keep(sample({ itemIds: [] }), "pending");
      expect(await look(answers, "resp_1")).toEqual({ unfinished: "resp_1", state: "pending" });
      const cancelled = { id: "resp_1", project: "default", answer: '"cancelled"', itemIds: [] };
      expect(await answers.end({ ...cancelled, project: "other" }, "cancelled")).toBe(false);
      expect(await answers.end(cancelled, "cancelled")).toBe(true);
      expect(await answers.end({ ...cancelled, answer: '"made"', itemIds: ["msg_1"] }, "done")).toBe(false);
      expect(await answers.find(reader(), "resp_1", () => {})).toEqual({
        state: "cancelled",
        input: sample().input,
        answer: '"cancelled"',
      });
      await answers.keep(sample({ id: "resp_2", itemIds: [] }), "pending");
      expect(await answers.end({ ...cancelled, id: "resp_2", answer: '"made"', itemIds: ["msg_2"] }, "done")).toBe(
        true,
      );
      const held: string[] = [];
      await answers.lookForItems(reader(), ["msg_1", "msg_2"], PLENTY, (answer) => held.push(answer));
      expect(held).toEqual(['"made"']);
      const made = await look(answers, "resp_2");
      expect("turns" in made && made.turns[0]?.answer).toBe('"made"');
      await storage.close();
    });
  });
}

for (const databases of testDatabases("stored answers")) answersContract(databases);
