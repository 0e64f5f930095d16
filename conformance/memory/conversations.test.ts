import { beforeEach, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import type { Queries, Storage } from "../../src/storage/storage.ts";
import { StorageTimeout } from "../../src/storage/storage-timeout.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";

const DAY = 24 * 3_600_000;
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
const HOSTS = ["chat", "responses", "messages", "genai", "interactions"] as const;

interface Item {
  id: string;
  type: string;
  role?: string;
  content?: { type: string; text?: string; file_id?: string }[];
}
interface Turn {
  id: string;
  status: string;
  store: boolean;
  conversation: { id: string };
  output: Item[];
}

let machine: Machine;
let harness: Harness;

const start = (config: Record<string, unknown> = {}, storage?: Storage): Promise<Harness> => {
  const { clock, upstream, fileStore } = machine;
  return Harness.start({
    config: { ...modelsOfEveryDialect(UPSTREAM_URL), ...config },
    machine,
    ...(storage && { within: { clock, send: upstream.send, storage, fileStore } }),
  });
};

beforeEach(async () => {
  machine = await makeMachine();
  harness = await start();
});

const read = <Body>({ text }: ReadAnswer): Body => JSON.parse(text) as Body;

function answers(text: string, dialect: DialectName = "chat"): void {
  const { upstream } = machine;
  upstream.play(upstream.json(plainAnswer(dialect, { text, usage: plainUsage(dialect, 10, 5) })));
}

async function conversation(body: JsonObject = {}): Promise<string> {
  return read<{ id: string }>(await harness.post("/v1/conversations", body)).id;
}

const say = (id: unknown, input: unknown, more: JsonObject = {}, at = harness): Promise<ReadAnswer> =>
  at.post("/v1/responses", { model: "test/chat", conversation: id, input, ...more });

async function items(id: string, at = harness): Promise<Item[]> {
  return read<{ data: Item[] }>(await at.ask("GET", `/v1/conversations/${id}/items?order=asc&limit=100`)).data;
}

const texts = (list: readonly Item[]) => list.map(({ role, content }) => [role, content?.[0]?.text]);
const sent = (): JsonObject => JSON.parse(machine.upstream.requests.at(-1)?.body ?? "{}") as JsonObject;
const errorOf = ({ status, text }: ReadAnswer) => {
  const { error } = JSON.parse(text) as { error: { code: string; param: string; message: string } };
  return { status, code: error.code, param: error.param };
};

describe("decision 0109: a turn of a conversation", () => {
  test.each(HOSTS)("at a host of %s: items are inserted, and input and output are added", async (host) => {
    const id = await conversation({ items: [{ role: "user", content: "My name is Ada." }] });
    answers("Hello, Ada.", host);
    const first = read<Turn>(await say(id, "Greet me.", { model: `test/${host}` }));
    expect(first).toMatchObject({ status: "completed", store: true, conversation: { id } });
    answers("Ada.", host);
    const second = read<Turn>(await say({ id }, "What is my name?", { model: `test/${host}` }));
    expect(second.conversation).toEqual({ id });
    const body = JSON.stringify(sent());
    const places = ["My name is Ada.", "Greet me.", "Hello, Ada.", "What is my name?"].map((text) =>
      body.indexOf(text),
    );
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(sent()["conversation"]).toBeUndefined();
    expect(sent()["store"] ?? false).toBe(false);
    const kept = await items(id);
    expect(texts(kept)).toEqual([
      ["user", "My name is Ada."],
      ["user", "Greet me."],
      ["assistant", "Hello, Ada."],
      ["user", "What is my name?"],
      ["assistant", "Ada."],
    ]);
    expect(kept[2]?.id).toBe(first.output[0]?.id ?? "");
    expect(new Set(kept.map((item) => item.id)).size).toBe(5);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test.each(["chat", "responses"] as const)("streamed from a host of %s, each event names it", async (host) => {
    const { upstream } = machine;
    const id = await conversation();
    upstream.play(upstream.stream(plainStream(host, ["Hello, ", "Ada."], plainUsage(host, 10, 5))));
    const { text } = await say(id, "My name is Ada.", { model: `test/${host}`, stream: true });
    const responses = [...text.matchAll(/^data: (.*)$/gm)]
      .map(([, data = ""]) => JSON.parse(data) as { response?: Turn })
      .flatMap(({ response }) => (response === undefined ? [] : [response]));
    expect(responses.length).toBeGreaterThan(1);
    for (const response of responses) expect(response.conversation).toEqual({ id });
    expect(texts(await items(id))).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello, Ada."],
    ]);
  });

  test("in the background", async () => {
    const id = await conversation();
    answers("Done.");
    const queued = read<Turn>(await say(id, "Take your time.", { background: true }));
    expect(queued).toMatchObject({ status: "queued", conversation: { id } });
    await machine.clock.pass(100);
    expect(read<Turn>(await harness.ask("GET", `/v1/responses/${queued.id}`))).toMatchObject({
      status: "completed",
      conversation: { id },
    });
    expect(texts(await items(id))).toEqual([
      ["user", "Take your time."],
      ["assistant", "Done."],
    ]);
  });

  test("tokens are counted with it, and nothing is added", async () => {
    const id = await conversation({ items: [{ role: "user", content: "A long story about a lighthouse keeper." }] });
    const count = async (body: JsonObject) =>
      read<{ input_tokens: number }>(await harness.post("/v1/responses/input_tokens", { model: "test/chat", ...body }))
        .input_tokens;
    expect(await count({ input: "Hi", conversation: id })).toBeGreaterThan((await count({ input: "Hi" })) + 5);
    expect(await items(id)).toHaveLength(1);
  });

  test("without input, the conversation itself is answered", async () => {
    const id = await conversation({ items: [{ role: "user", content: "Hello" }] });
    answers("Hello to you.");
    expect((await say(id, undefined)).status).toBe(200);
    expect(texts(await items(id))).toEqual([
      ["user", "Hello"],
      ["assistant", "Hello to you."],
    ]);
  });

  test("with store: false the response is not stored, and its turn is", async () => {
    const id = await conversation();
    answers("Hello.");
    const response = read<Turn>(await say(id, "Hi", { store: false }));
    expect(response).toMatchObject({ store: false, conversation: { id } });
    expect((await harness.ask("GET", `/v1/responses/${response.id}`)).status).toBe(404);
    expect(await items(id)).toHaveLength(2);
  });

  test("an incomplete response is added, a failed or cancelled one is not", async () => {
    const { upstream } = machine;
    const id = await conversation();
    upstream.play(upstream.json({ error: { message: "no", type: "invalid_request_error" } }, 400));
    expect((await say(id, "Refused")).status).toBe(400);
    upstream.play(upstream.stream(`${plainStream("chat", ["Hal", "lo"], plainUsage("chat", 1, 1)).slice(0, 150)}`));
    await say(id, "Broken", { stream: true });
    upstream.play(upstream.stream(60_000));
    const queued = read<Turn>(await say(id, "Cancelled", { background: true }));
    await harness.ask("POST", `/v1/responses/${queued.id}/cancel`);
    await machine.clock.pass(5_000);
    expect(await items(id)).toEqual([]);
    upstream.play(
      upstream.json(plainAnswer("chat", { text: "A long st", usage: plainUsage("chat", 10, 5), stop: "length" })),
    );
    expect(read<Turn>(await say(id, "Tell me.", { max_output_tokens: 16 })).status).toBe("incomplete");
    expect(texts(await items(id))).toEqual([
      ["user", "Tell me."],
      ["assistant", "A long st"],
    ]);
  });

  test("H13: of a client that disconnects, the turn is added if the response is read to its end, else nothing", async () => {
    const { upstream, clock } = machine;
    const id = await conversation();
    const whole = plainStream("chat", ["Hello, ", "Ada."], plainUsage("chat", 10, 5));
    upstream.play(upstream.stream(whole.slice(0, 200), 500, whole.slice(200)));
    const call = harness.sendPost("/v1/responses", { model: "test/chat", conversation: id, input: "Hi", stream: true });
    await clock.pass(100);
    call.disconnect();
    await clock.pass(120_000);
    const kept = await items(id);
    const stored = await machine.storage.query("SELECT id FROM answers");
    expect([kept.length, stored.length]).toEqual(stored.length === 1 ? [2, 1] : [0, 0]);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("concurrent turns are both added, each as one block", async () => {
    const { upstream, clock } = machine;
    const id = await conversation();
    upstream.play(async (exchange, request) => {
      const isSlow = request.body.includes("slow");
      if (isSlow) await clock.sleep(1_000);
      const answer = plainAnswer("chat", { text: isSlow ? "late" : "early", usage: plainUsage("chat", 1, 1) });
      await upstream.json(answer)(exchange, request);
    });
    const body = { model: "test/chat", conversation: id };
    const slow = harness.sendPost("/v1/responses", { ...body, input: "slow" });
    const quick = harness.sendPost("/v1/responses", { ...body, input: "quick" });
    await clock.until(Promise.all([slow.answer, quick.answer]));
    expect(texts(await items(id))).toEqual([
      ["user", "quick"],
      ["assistant", "early"],
      ["user", "slow"],
      ["assistant", "late"],
    ]);
  });

  test("previous_response_id continues a response of a conversation with what preceded it", async () => {
    const id = await conversation({ items: [{ role: "user", content: "My name is Ada." }] });
    answers("Hello.");
    const first = read<Turn>(await say(id, "Hi."));
    await say(id, "Later.");
    const fork = { model: "test/chat", input: "What is my name?", previous_response_id: first.id };
    expect((await harness.post("/v1/responses", fork)).status).toBe(200);
    expect((sent()["messages"] as { content: string }[]).map(({ content }) => content)).toEqual([
      "My name is Ada.",
      "Hi.",
      "Hello.",
      "What is my name?",
    ]);
    const listed = read<{ data: Item[] }>(await harness.ask("GET", `/v1/responses/${first.id}/input_items?order=asc`));
    expect(texts(listed.data)).toEqual([
      ["user", "My name is Ada."],
      ["user", "Hi."],
    ]);
    expect(listed.data[0]?.id).toBe((await items(id))[0]?.id ?? "");
    await harness.ask("DELETE", `/v1/conversations/${id}`);
    expect(errorOf(await harness.post("/v1/responses", fork))).toEqual({
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
    expect((await harness.ask("GET", `/v1/responses/${first.id}`)).status).toBe(200);
  });

  test("files are kept by their ids, and sent with each turn", async () => {
    const form = new FormData();
    form.append("file", new Blob(["The harbour opens at nine."], { type: "text/plain" }), "notes.txt");
    form.append("purpose", "user_data");
    const { id: file } = read<{ id: string }>(await machine.clock.until(harness.sendForm("/v1/files", form).answer));
    const content = [{ type: "input_file", file_id: file }];
    const id = await conversation({ items: [{ role: "user", content }] });
    answers("At nine.");
    await say(id, "When?");
    await say(id, "Really?");
    expect(JSON.stringify(sent())).toContain("The harbour opens at nine.");
    expect((await items(id))[0]?.content).toEqual(content);
    await harness.ask("DELETE", `/v1/files/${file}`);
    expect((await say(id, "Still?")).status).toBe(400);
  });
});

describe("decision 0109: the response and its turn are stored together", () => {
  /** The storage, on which statements that match fail. */
  const failing = (pattern: () => RegExp): Storage => {
    const { storage } = machine;
    const guard = (queries: Queries): Queries => ({
      query: async (statement, parameters, limitMs) => {
        if (pattern().test(statement)) throw new Error("the disk is full");
        return await queries.query(statement, parameters, limitMs);
      },
    });
    return {
      engine: storage.engine,
      ...guard(storage),
      runForEach: (...rows) => storage.runForEach(...rows),
      changeStamp: () => storage.changeStamp(),
      close: () => storage.close(),
      transaction: (work, limitMs) => storage.transaction((queries) => work(guard(queries)), limitMs),
    };
  };

  test.each(["INSERT INTO conversation_items", "INSERT INTO answers", "UPDATE objects SET size"])(
    "if %s fails, neither is stored, and the client has its response",
    async (statement) => {
      let pattern = /^never$/;
      const at = await start(
        {},
        failing(() => pattern),
      );
      const id = await conversation();
      answers("Hello.");
      pattern = new RegExp(statement);
      expect((await say(id, "Hi", {}, at)).status).toBe(200);
      pattern = /^never$/;
      expect(await items(id, at)).toEqual([]);
      expect(await machine.storage.query("SELECT id FROM answers")).toEqual([]);
      expect((await say(id, "Again", {}, at)).status).toBe(200);
      expect(await items(id, at)).toHaveLength(2);
      expect(at.leftovers()).toEqual(NOTHING_LEFT);
    },
  );
});

describe("a turn is stored before its client has the whole response, however slow the database is", () => {
  /** The storage, whose next transactions with such a statement fail, before or after they are committed. */
  function failingTimes(statement: string, when: "before" | "after") {
    const { storage } = machine;
    const fault = { left: 0 };
    const within: Storage = {
      engine: storage.engine,
      query: (...call) => storage.query(...call),
      runForEach: (...rows) => storage.runForEach(...rows),
      changeStamp: () => storage.changeStamp(),
      close: () => storage.close(),
      transaction: async (work, limitMs) => {
        let isHit = false;
        const hit = () => {
          fault.left -= 1;
          return new StorageTimeout(5_000);
        };
        const result = await storage.transaction(
          (queries) =>
            work({
              query: async (text, parameters) => {
                isHit ||= fault.left > 0 && text.includes(statement);
                if (isHit && when === "before") throw hit();
                return await queries.query(text, parameters);
              },
            }),
          limitMs,
        );
        if (isHit) throw hit();
        return result;
      },
    };
    return { fault, within };
  }

  test.each([
    ["before", true, false],
    ["before", false, false],
    ["before", true, true],
    ["before", false, true],
    ["after", true, false],
    ["after", false, false],
    ["after", true, true],
    ["after", false, true],
  ] as const)("transactions that fail %s they are committed, store: %p, stream: %p", async (when, store, stream) => {
    const { fault, within } = failingTimes("INSERT INTO conversation_items", when);
    const at = await start({}, within);
    const id = await conversation();
    const { upstream, clock } = machine;
    if (stream) upstream.play(upstream.stream(plainStream("chat", ["Hel", "lo."], plainUsage("chat", 10, 5))));
    else answers("Hello.");
    fault.left = 8;
    const sinceMs = clock.nowMs();
    const { text, status } = await say(id, "Hi", { store, stream }, at);
    expect([status, text.includes("completed")]).toEqual([200, true]);
    expect(fault.left).toBe(when === "before" ? 0 : 7);
    if (when === "before") expect(clock.nowMs() - sinceMs).toBeGreaterThan(2_000);
    fault.left = 0;
    expect(texts(await items(id, at))).toEqual([
      ["user", "Hi"],
      ["assistant", "Hello."],
    ]);
    const [row] = await machine.storage.query("SELECT COUNT(*) AS count FROM answers");
    expect(Number(row?.["count"])).toBe(store ? 1 : 0);
    expect(at.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("while it waits, its receipt is stored, and the calls in flight count it", async () => {
    const { fault, within } = failingTimes("INSERT INTO conversation_items", "before");
    const at = await start({}, within);
    const id = await conversation();
    answers("Hello.");
    fault.left = Number.POSITIVE_INFINITY;
    const answer = say(id, "Hi", {}, at);
    await machine.clock.pass(30_000);
    expect(at.leftovers().runningCalls).toBe(1);
    const [row] = await machine.storage.query("SELECT COUNT(*) AS count FROM receipts");
    expect(Number(row?.["count"])).toBe(1);
    fault.left = 0;
    expect((await answer).status).toBe(200);
    expect(await items(id, at)).toHaveLength(2);
    expect(at.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe("decision 0109: requests that cannot use a conversation", () => {
  test.each([
    ["conv_none", "conversation"],
    [{ id: "conv_0000000000000000000000" }, "conversation.id"],
    ["file-0000000000000000000000", "conversation"],
    ["c".repeat(1_000), "conversation"],
    ["' OR 1=1 --", "conversation"],
  ])("an unknown id %p is 400 with its path", async (id, param) => {
    answers("Hello.");
    expect(errorOf(await say(id, "Hi"))).toEqual({ status: 400, code: "conversation_not_found", param });
    expect(machine.upstream.requests).toEqual([]);
  });

  test("a turn without input, of a conversation without items", async () => {
    const id = await conversation();
    for (const input of [undefined, []])
      expect(errorOf(await say(id, input))).toMatchObject({ status: 400, param: "input" });
    expect(machine.upstream.requests).toEqual([]);
  });

  test("together with previous_response_id", async () => {
    const id = await conversation();
    const refused = await say(id, "Hi", { previous_response_id: "resp_1" });
    expect(errorOf(refused)).toMatchObject({ status: 400, param: "conversation" });
  });

  test("a conversation beyond the size of a request", async () => {
    const id = await conversation({ items: [{ role: "user", content: "x".repeat(300_000) }] });
    const small = await start({ server: { max_body_mb: 0.2 } });
    expect(errorOf(await say(id, "Hi", {}, small))).toEqual({
      status: 400,
      code: "context_length_exceeded",
      param: "conversation",
    });
    expect(small.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("a project whose share is used gets 403 before a provider is called", async () => {
    const full = await start({ objects: { project_mb: 0.001 } });
    const id = read<{ id: string }>(await full.post("/v1/conversations", {})).id;
    const long = { items: [{ role: "user", content: [...Array(200).keys()].join(" ") }] };
    const added = async () => (await full.post(`/v1/conversations/${id}/items`, long)).status;
    expect([await added(), await added(), await added()]).toContain(403);
    answers("x");
    const turns: number[] = [];
    for (let turn = 0; turn < 3; turn++) turns.push((await say(id, "Hi there", {}, full)).status);
    expect(turns.at(-1)).toBe(403);
  });

  test("responses.store: false stores no conversations", async () => {
    const off = await start({ responses: { store: false } });
    const refused = await off.post("/v1/conversations", {});
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("responses.store")]);
    const id = await conversation();
    expect((await say(id, "Hi", {}, off)).status).toBe(400);
    expect((await off.ask("DELETE", `/v1/conversations/${id}`)).status).toBe(200);
  });
});

describe("decision 0109: endpoints of conversations", () => {
  const user = (content: string) => ({ role: "user", content });

  test("create, show, change and delete", async () => {
    const created = read<JsonObject>(await harness.post("/v1/conversations", { metadata: { topic: "demo" } }));
    expect(created).toEqual({
      id: expect.stringMatching(/^conv_[0-9A-Za-z]{22}$/),
      object: "conversation",
      created_at: expect.any(Number),
      metadata: { topic: "demo" },
    });
    const path = `/v1/conversations/${created["id"]}`;
    expect(read<JsonObject>(await harness.ask("GET", path))).toEqual(created);
    const changed = read<JsonObject>(await harness.post(path, { metadata: { topic: "other" } }));
    expect(changed["metadata"]).toEqual({ topic: "other" });
    expect(read<JsonObject>(await harness.post(path, { metadata: null }))["metadata"]).toEqual({});
    expect(read<JsonObject>(await harness.ask("DELETE", path))).toEqual({
      id: created["id"] as string,
      object: "conversation.deleted",
      deleted: true,
    });
    for (const method of ["GET", "DELETE"]) {
      expect(errorOf(await harness.ask(method, path))).toEqual({
        status: 404,
        code: "conversation_not_found",
        param: "id",
      });
    }
    expect(await machine.storage.query("SELECT number FROM conversation_items")).toEqual([]);
  });

  test("items are added, listed page by page in either order, shown and deleted", async () => {
    const id = await conversation({ items: [user("one")] });
    const path = `/v1/conversations/${id}/items`;
    const call = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
    const added = read<{ data: Item[]; has_more: boolean }>(await harness.post(path, { items: [user("two"), call] }));
    expect(added.data.map(({ type }) => type)).toEqual(["message", "function_call"]);
    expect(added.data[1]?.id).toMatch(/^fc_[0-9A-Za-z]{22}$/);
    const all = (await items(id)).map((item) => item.id);
    for (const order of ["asc", "desc"]) {
      const ids: string[] = [];
      for (let after = ""; ; ) {
        const page = read<{ data: Item[]; last_id: string; has_more: boolean }>(
          await harness.ask("GET", `${path}?limit=1&order=${order}${after}&include[]=reasoning.encrypted_content`),
        );
        ids.push(...page.data.map((item) => item.id));
        if (!page.has_more) break;
        after = `&after=${page.last_id}`;
      }
      expect(ids).toEqual(order === "asc" ? all : all.toReversed());
    }
    expect(read<Item>(await harness.ask("GET", `${path}/${all[1]}`))).toMatchObject({
      id: all[1] ?? "",
      content: [{ type: "input_text", text: "two" }],
    });
    expect(read<JsonObject>(await harness.ask("DELETE", `${path}/${all[1]}`))).toMatchObject({
      id,
      object: "conversation",
    });
    expect((await items(id)).map((item) => item.id)).toEqual([all[0] ?? "", all[2] ?? ""]);
    expect(errorOf(await harness.ask("GET", `${path}/${all[1]}`))).toEqual({
      status: 404,
      code: "item_not_found",
      param: "item",
    });
  });

  test("an item keeps a usable id, and an id that is used twice is replaced", async () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA-sealed" };
    const id = await conversation({ items: [user("Hi"), thought] });
    await harness.post(`/v1/conversations/${id}/items`, { items: [thought, { ...user("x"), id: "a/b" }] });
    const [, first, second, odd] = await items(id);
    expect([first?.id, second?.id === "rs_1", odd?.id.startsWith("msg_")]).toEqual(["rs_1", false, true]);
    answers("Hello.", "responses");
    await say(id, "Go on.", { model: "test/responses" });
    const thoughts = (sent()["input"] as { type: string; id: string }[]).filter(({ type }) => type === "reasoning");
    expect(thoughts.map((one) => one.id)).toEqual(["rs_1", "rs_1"]);
  });

  test.each<[string, JsonObject, string]>([
    ["more than 20 items", { items: Array.from({ length: 21 }, () => user("x")) }, "items"],
    ["an item of no kind", { items: [{ role: "robot", content: "x" }] }, "items[0].role"],
    ["a reference", { items: [user("x"), { type: "item_reference", id: "msg_1" }] }, "items[1]"],
    [
      "a vendor's file",
      { items: [{ role: "user", content: [{ type: "input_file", file_id: "file-raw" }] }] },
      "items[0].content[0].file_id",
    ],
    [
      "a broken image",
      { items: [{ role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,%" }] }] },
      "items[0].content[0].image_url",
    ],
    ["metadata that is too long", { metadata: { a: "x".repeat(513) } }, "metadata.a"],
    [
      "17 pairs of metadata",
      { metadata: Object.fromEntries([...Array(17).keys()].map((key) => [`k${key}`, "v"])) },
      "metadata",
    ],
  ])("%s is refused with its path", async (_what, body, param) => {
    expect(errorOf(await harness.post("/v1/conversations", body))).toMatchObject({ status: 400, param });
    expect(await machine.storage.query("SELECT id FROM objects")).toEqual([]);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("unknown pages and limits are refused with their path", async () => {
    const id = await conversation();
    for (const [query, param] of [
      ["after=msg_none", "after"],
      ["limit=0", "limit"],
      ["order=up", "order"],
    ]) {
      const refused = await harness.ask("GET", `/v1/conversations/${id}/items?${query}`);
      expect(errorOf(refused)).toMatchObject({ status: 400, param });
    }
  });

  test("objects.default_days counts from the last turn", async () => {
    harness = await start({ objects: { default_days: 7 } });
    const id = await conversation();
    answers("Hello.");
    await machine.clock.pass(5 * DAY);
    expect((await say(id, "Hi")).status).toBe(200);
    await machine.clock.pass(5 * DAY);
    expect(await items(id)).toHaveLength(2);
    await machine.clock.pass(3 * DAY);
    expect((await harness.ask("GET", `/v1/conversations/${id}`)).status).toBe(404);
    await harness.gateway.objects.sweep();
    expect(await machine.storage.query("SELECT number FROM conversation_items")).toEqual([]);
  });

  test("the strict base URL has no such endpoints, and takes the field", async () => {
    expect((await harness.post("/api/v1/conversations", {})).status).toBe(404);
    const id = await conversation();
    answers("Hello.");
    const turn = await harness.post("/api/v1/responses", { model: "test/chat", conversation: id, input: "Hi" });
    expect(turn.status).toBe(200);
    expect(await items(id)).toHaveLength(2);
  });

  test("no content is readable in the storage", async () => {
    const id = await conversation({ items: [user("The word is Kupfer.")] });
    const rows = await machine.storage.query("SELECT content FROM conversation_items");
    expect(Buffer.from(rows[0]?.["content"] as Uint8Array).includes("Kupfer")).toBe(false);
    expect((await items(id))[0]?.content?.[0]?.text).toBe("The word is Kupfer.");
  });
});
