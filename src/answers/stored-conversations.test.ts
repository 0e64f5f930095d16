import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { system } from "../base/system.ts";
import { ObjectContent } from "../objects/object-content.ts";
import { Objects } from "../objects/objects.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { Answers, type NewAnswer } from "./answers.ts";
import { Sealer } from "./sealer.ts";
import { type NewItem, StoredConversations } from "./stored-conversations.ts";

const KEY = new Uint8Array(32).fill(1);
const OWNER = { project: "default", keyId: "key_1", share: "project" } as const;
const PLENTY = { maxBytes: 1024 ** 2, grows: true };

const clock = new VirtualClock();
const problems: string[] = [];
const count = () => {};

function open(storage: Storage, { key = KEY, maxProjectBytes = 1024 ** 2 } = {}) {
  const storing = {
    storage,
    clock,
    sealer: new Sealer(key, system.random),
    onProblem: (_error: unknown, what: string) => void problems.push(what),
  };
  const content = new ObjectContent({ storage, store: undefined as never, random: system.random });
  const objects = new Objects({ storage, content, clock });
  const conversations = new StoredConversations({
    ...storing,
    random: system.random,
    objects,
    limits: { maxProjectBytes },
  });
  const limits = { retentionMs: 3_600_000, maxBytes: 1024 ** 3 };
  return { conversations, answers: new Answers({ ...storing, conversations, limits }) };
}

const item = (text: string, id?: string): NewItem => ({ text: JSON.stringify({ text }), id, prefix: "msg" });
const answer = (changes: Partial<NewAnswer> = {}): NewAnswer => ({
  ...OWNER,
  id: "resp_1",
  history: [],
  input: "[]",
  answer: "{}",
  itemIds: [],
  ...changes,
});

function check(databases: TestDatabases): void {
  describe(`decision 0109: stored conversations on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      problems.length = 0;
      storage = await openStorage(await databases.withTables(), clock);
    });
    afterAll(() => databases.clear());

    const textsOf = async (conversations: StoredConversations, id: string): Promise<string[]> => {
      const found = await conversations.history(OWNER, id, PLENTY, count);
      if (typeof found === "string") return [found];
      return found.items.map(({ text }) => (JSON.parse(text) as { text: string }).text);
    };

    test("turns of many processes at once are added as blocks, with no number used twice", async () => {
      const { conversations } = open(storage);
      const { id } = await conversations.create(OWNER, {}, [item("first")]);
      const found = await conversations.history(OWNER, id, PLENTY, count);
      if (typeof found === "string") throw new Error(found);
      const turns = Array.from({ length: 20 }, async (_, turn) => {
        const items = [item(`${turn} asks`), item(`${turn} answers`)];
        await conversations.append(await conversations.prepareTurn("default", found.place, items));
      });
      await Promise.all(turns);
      const [, ...texts] = await textsOf(conversations, id);
      expect(texts).toHaveLength(40);
      for (let at = 0; at < 40; at += 2) {
        const [asks = "", answers = ""] = texts.slice(at, at + 2);
        expect(answers).toBe(asks.replace("asks", "answers"));
      }
      await storage.close();
    });

    test("turns, additions and deletions at once do not wait for each other forever", async () => {
      const { conversations } = open(storage);
      const many = Array.from({ length: 10 }, (_, index) => item(`old ${index}`, `msg_old${index}`));
      const { id } = await conversations.create(OWNER, {}, many);
      const found = await conversations.history(OWNER, id, PLENTY, count);
      if (typeof found === "string") throw new Error(found);
      const { place } = found;
      await Promise.all(
        many.flatMap(({ id: old = "" }, index) => [
          conversations.add(OWNER, id, [item(`added ${index}`)]),
          conversations
            .prepareTurn("default", place, [item(`said ${index}`)])
            .then((turn) => conversations.append(turn)),
          conversations.deleteItem(OWNER, id, old),
          conversations.update(OWNER, id, { index: String(index) }),
        ]),
      );
      const texts = await textsOf(conversations, id);
      expect(texts.filter((text) => text.startsWith("added"))).toHaveLength(10);
      expect(texts.filter((text) => text.startsWith("said"))).toHaveLength(10);
      expect(texts).toHaveLength(20);
      await storage.close();
    });

    test("a deleted item's place is not used again, so an earlier response keeps what preceded it", async () => {
      const { conversations } = open(storage);
      const { id } = await conversations.create(OWNER, {}, [item("one"), item("two", "msg_two")]);
      const found = await conversations.history(OWNER, id, PLENTY, count);
      if (typeof found === "string") throw new Error(found);
      await conversations.deleteItem(OWNER, id, "msg_two");
      await conversations.add(OWNER, id, [item("three")]);
      const before = await conversations.before(OWNER, found.place, 1024, count);
      expect(typeof before === "string" ? before : before.items.map(({ text }) => text)).toEqual(['{"text":"one"}']);
      await storage.close();
    });

    test("an answer and its turn are stored together, or neither", async () => {
      const { conversations, answers } = open(storage);
      const { id } = await conversations.create(OWNER, {}, []);
      const found = await conversations.history(OWNER, id, PLENTY, count);
      if (typeof found === "string") throw new Error(found);
      const turn = () => conversations.prepareTurn("default", found.place, [item("said")]);
      await answers.keep(answer({ conversation: found.place, writeTurn: await turn() }));
      // The same id again, because the outcome of the first attempt is unknown: neither is written twice.
      await answers.keep(answer({ writeTurn: await turn() }));
      expect(await textsOf(conversations, id)).toEqual(["said"]);
      await answers.keep(answer({ id: "resp_2" }), "pending");
      const ended = { id: "resp_2", project: "default", answer: "{}", itemIds: [] };
      expect(await answers.end(ended, "cancelled")).toBe(true);
      expect(await answers.end({ ...ended, writeTurn: await turn() }, "done")).toBe(false);
      expect(await textsOf(conversations, id)).toEqual(["said"]);
      await storage.close();
    });

    test("a turn that is written again is stored once, and so is its size", async () => {
      const { conversations } = open(storage);
      const { id } = await conversations.create(OWNER, {}, []);
      const found = await conversations.history(OWNER, id, PLENTY, count);
      if (typeof found === "string") throw new Error(found);
      const write = await conversations.prepareTurn("default", found.place, [item("said"), item("heard")]);
      const size = async () => (await storage.query("SELECT size FROM objects"))[0]?.["size"];
      await Promise.all([conversations.append(write), conversations.append(write)]);
      const once = await size();
      await conversations.append(write);
      expect(await textsOf(conversations, id)).toEqual(["said", "heard"]);
      expect(await size()).toEqual(once);
      await storage.close();
    });

    test("a turn of a conversation that was deleted meanwhile is dropped, and its answer is stored", async () => {
      const { conversations, answers } = open(storage);
      const { id } = await conversations.create(OWNER, {}, []);
      const found = await conversations.history(OWNER, id, PLENTY, count);
      if (typeof found === "string") throw new Error(found);
      const writeTurn = await conversations.prepareTurn("default", found.place, [item("late")]);
      expect(await conversations.delete(id, () => true)).toBe(true);
      await answers.keep(answer({ conversation: found.place, writeTurn }));
      expect(await answers.find(OWNER, "resp_1", count)).toBeDefined();
      expect(await storage.query("SELECT number FROM conversation_items")).toEqual([]);
      await storage.close();
    });

    test("its size is that of its items, and counts towards the project's share", async () => {
      const { conversations } = open(storage, { maxProjectBytes: 4_096 });
      const sizeNow = async () => Number((await storage.query("SELECT size FROM objects"))[0]?.["size"]);
      const { id } = await conversations.create(OWNER, {}, []);
      const empty = await sizeNow();
      const [added] = (await conversations.add(OWNER, id, [item("x")])) ?? [];
      expect(await sizeNow()).toBeGreaterThan(empty);
      await conversations.deleteItem(OWNER, id, added?.id ?? "");
      expect(await sizeNow()).toBe(empty);
      const many = Array.from({ length: 20 }, () => item("y"));
      await expect(conversations.add(OWNER, id, many)).rejects.toMatchObject({ code: "storage_limit_exceeded" });
      await expect(conversations.create(OWNER, {}, many)).rejects.toMatchObject({ code: "storage_limit_exceeded" });
      expect(await sizeNow()).toBe(empty);
      await storage.close();
    });

    test("items sealed with another key make it unusable, and the problem is reported", async () => {
      const { id } = await open(storage).conversations.create(OWNER, {}, [item("one")]);
      const other = open(storage, { key: new Uint8Array(32).fill(2) }).conversations;
      expect(await other.history(OWNER, id, PLENTY, count)).toBe("missing");
      expect(problems).toEqual([expect.stringContaining("responses.key")]);
      await storage.close();
    });

    test("listed answers are found by model and metadata, and never by others", async () => {
      const { answers } = open(storage);
      for (const [index, model] of ["a", "b", "a"].entries()) {
        const metadata = { n: String(index % 2), all: "x" };
        const share = index === 2 ? "private" : "project";
        await answers.keep(answer({ id: `chatcmpl-${index}`, share, listed: { model, metadata } }));
        await clock.pass(1);
      }
      await answers.keep(answer());
      const ids = async (page: object, reader: { project: string; keyId: string } = OWNER) => {
        const found = await answers.list(reader, { order: "asc", limit: 10, ...page }, count);
        return found === "unknown" ? found : found.answers.map(({ id }) => id.at(-1));
      };
      expect(await ids({})).toEqual(["0", "1", "2"]);
      expect(await ids({ order: "desc" })).toEqual(["2", "1", "0"]);
      expect(await ids({ model: "a" })).toEqual(["0", "2"]);
      expect(await ids({ metadata: { n: "0", all: "x" } })).toEqual(["0", "2"]);
      expect(await ids({ after: "chatcmpl-0", limit: 1 })).toEqual(["1"]);
      expect(await ids({ after: "resp_1" })).toBe("unknown");
      expect(await ids({}, { project: "default", keyId: "key_2" })).toEqual(["0", "1"]);
      expect(await ids({}, { project: "other", keyId: "key_1" })).toEqual([]);
      expect(await answers.setMetadata(OWNER, "chatcmpl-0", { n: "9" })).toBe(true);
      expect(await ids({ metadata: { n: "9" } })).toEqual(["0"]);
      expect(await answers.setMetadata({ project: "other", keyId: "key_1" }, "chatcmpl-0", {})).toBe(false);
      await storage.close();
    });
  });
}

for (const databases of testDatabases("stored conversations")) check(databases);
