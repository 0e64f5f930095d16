import { beforeEach, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const HOUR = 3_600_000;
const ALLOWED = "a-key-that-may-name-what-it-likes";
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
const HOSTS = ["chat", "responses", "messages", "genai", "interactions"] as const;
const CONFIG = {
  ...modelsOfEveryDialect(UPSTREAM_URL),
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "allowed", key: ALLOWED, provider_objects: true },
  ],
};

interface Completion {
  id: string;
  model: string;
  object: string;
  metadata?: Record<string, string>;
  choices: { message: { content: string; tool_calls?: object[] }; finish_reason: string }[];
  usage: { total_tokens: number };
}
interface Page<Entry> {
  object: string;
  data: Entry[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

let machine: Machine;
let harness: Harness;
beforeEach(async () => {
  machine = await makeMachine();
  harness = await Harness.start({ config: CONFIG, machine });
});

const read = <Body>({ text }: ReadAnswer): Body => JSON.parse(text) as Body;
const sent = (): JsonObject => JSON.parse(machine.upstream.requests.at(-1)?.body ?? "{}") as JsonObject;
const errorOf = ({ status, text }: ReadAnswer) => {
  const { error } = JSON.parse(text) as { error: { code: string; param: string } };
  return { status, code: error.code, param: error.param };
};

function answers(text: string, dialect: DialectName = "chat"): void {
  const { upstream } = machine;
  upstream.play(upstream.json(plainAnswer(dialect, { text, usage: plainUsage(dialect, 10, 5) })));
}

const user = (content: unknown) => ({ role: "user", content });
const create = (more: JsonObject = {}, key = TEST_KEY, at = harness): Promise<ReadAnswer> =>
  at.post("/v1/chat/completions", { model: "test/chat", messages: [user("Hi")], store: true, ...more }, key);
const show = (id: string, at = harness) => at.ask("GET", `/v1/chat/completions/${id}`);
const list = async (query = "") => read<Page<Completion>>(await harness.ask("GET", `/v1/chat/completions${query}`));

/** What the chunks of a stream say together, as a client assembles it. */
function assembled(text: string): { ids: Set<string>; content: string } {
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(
    ([, data = ""]) => JSON.parse(data) as { id: string; choices: { delta: { content?: string } }[] },
  );
  return {
    ids: new Set(chunks.map(({ id }) => id)),
    content: chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""),
  };
}

describe("decision 0109: store: true", () => {
  test.each(HOSTS)(
    "at a host of %s: the completion is kept with an id of the gateway, and nothing goes upstream",
    async (host) => {
      answers("Hello, Ada.", host);
      const answer = await create({ model: `test/${host}`, metadata: { topic: "demo" } });
      const completion = read<Completion>(answer);
      expect(completion.id).toMatch(/^chatcmpl-[0-9A-Za-z]{22}$/);
      expect(sent()["store"] ?? false).toBe(false);
      expect(sent()["metadata"]).toBeUndefined();
      const kept = read<Completion>(await show(completion.id));
      expect(kept).toEqual({ ...completion, metadata: { topic: "demo" } });
      const { fields } = await harness.receipt(answer);
      expect(fields.filter(({ path }) => path === "store" || path === "metadata")).toEqual([]);
      expect(harness.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  test.each(HOSTS)("streamed from a host of %s: every chunk has the id, and the whole is kept", async (host) => {
    const { upstream } = machine;
    upstream.play(upstream.stream(plainStream(host, ["Hello, ", "Ada."], plainUsage(host, 10, 5))));
    const { text } = await create({ model: `test/${host}`, stream: true });
    const { ids, content } = assembled(text);
    expect([ids.size, content]).toEqual([1, "Hello, Ada."]);
    const [id = ""] = ids;
    expect(id).toMatch(/^chatcmpl-[0-9A-Za-z]{22}$/);
    expect(read<Completion>(await show(id))).toMatchObject({
      id,
      object: "chat.completion",
      model: `test/${host}`,
      choices: [{ index: 0, message: { role: "assistant", content: "Hello, Ada." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
      metadata: {},
    });
  });

  test("a stream that breaks, a failure and store: false keep nothing", async () => {
    const { upstream } = machine;
    upstream.play(upstream.json({ error: { message: "no", type: "invalid_request_error" } }, 400));
    await create();
    upstream.play(upstream.brokenStream(plainStream("chat", ["Hal", "lo"], {}).slice(0, 200)));
    await create({ stream: true });
    answers("Hello.");
    await create({ store: false });
    await create({ store: undefined });
    await create({ store: null });
    expect((await list()).data).toEqual([]);
    expect(await machine.storage.query("SELECT id FROM answers")).toEqual([]);
  });

  test("provider_objects: true sends store upstream, and the gateway stores it too", async () => {
    answers("Hello.");
    const { id } = read<Completion>(await create({ metadata: { a: "b" } }, ALLOWED));
    expect(sent()).toMatchObject({ store: true, metadata: { a: "b" } });
    expect((await show(id)).status).toBe(200);
  });

  test("responses.store: false keeps nothing, and the receipt says so", async () => {
    const off = await Harness.start({ config: { ...CONFIG, responses: { store: false } }, machine });
    answers("Hello.");
    const answer = await create({}, TEST_KEY, off);
    expect((await off.receipt(answer)).fields).toEqual([
      { path: "store", action: "dropped", reason: expect.stringContaining("does not store") },
    ]);
    expect((await show(read<Completion>(answer).id, off)).status).toBe(404);
    expect(sent()["store"]).toBeUndefined();
  });

  test("metadata beyond the vendor's limits is refused with its path before a provider is called", async () => {
    answers("Hello.");
    for (const metadata of [{ a: "x".repeat(513) }, { ["a".repeat(65)]: "x" }]) {
      const refused = errorOf(await create({ metadata }));
      expect([refused.status, refused.param.startsWith("metadata.a")]).toEqual([400, true]);
    }
    expect(machine.upstream.requests).toEqual([]);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("it expires with responses.retention_hours", async () => {
    answers("Hello.");
    const { id } = read<Completion>(await create());
    await machine.clock.pass(167 * HOUR);
    expect((await show(id)).status).toBe(200);
    await machine.clock.pass(2 * HOUR);
    expect((await show(id)).status).toBe(404);
    expect((await list()).data).toEqual([]);
  });

  test("it is no response: its id continues nothing and is not shown as one", async () => {
    answers("Hello.");
    const { id } = read<Completion>(await create());
    const continued = await harness.post("/v1/responses", { model: "test/chat", input: "x", previous_response_id: id });
    expect(errorOf(continued)).toMatchObject({ status: 400, param: "previous_response_id" });
    expect((await harness.ask("GET", `/v1/responses/${id}`)).status).toBe(404);
    const response = read<{ id: string }>(await harness.post("/v1/responses", { model: "test/chat", input: "x" }));
    expect((await show(response.id)).status).toBe(404);
    expect((await list()).data.map((one) => one.id)).toEqual([id]);
  });
});

describe("decision 0109: endpoints of stored completions", () => {
  async function three(): Promise<string[]> {
    const ids: string[] = [];
    for (const [model, topic] of [
      ["test/chat", "a"],
      ["test/messages", "b"],
      ["test/chat", "b"],
    ] as const) {
      await machine.clock.pass(1_000);
      answers(topic, model === "test/chat" ? "chat" : "messages");
      ids.push(read<Completion>(await create({ model, metadata: { topic, of: "three" } })).id);
    }
    return ids;
  }

  test("are listed oldest first, page by page, in either order", async () => {
    const ids = await three();
    expect(await list()).toMatchObject({ object: "list", first_id: ids[0], last_id: ids[2], has_more: false });
    for (const order of ["asc", "desc"]) {
      const found: string[] = [];
      for (let after = ""; ; ) {
        const page = await list(`?limit=1&order=${order}${after}`);
        found.push(...page.data.map(({ id }) => id));
        if (!page.has_more) break;
        after = `&after=${page.last_id}`;
      }
      expect(found).toEqual(order === "asc" ? ids : ids.toReversed());
    }
  });

  test("are found by model and by every pair of metadata", async () => {
    const ids = await three();
    const found = async (query: string) => (await list(query)).data.map(({ id }) => ids.indexOf(id));
    expect(await found("?model=test/chat")).toEqual([0, 2]);
    expect(await found("?metadata[topic]=b")).toEqual([1, 2]);
    expect(await found("?metadata[topic]=b&model=test/chat&metadata[of]=three")).toEqual([2]);
    expect(await found("?metadata[topic]=b&metadata[of]=none")).toEqual([]);
    expect(await found(`?metadata[topic]=b&limit=1&after=${ids[1]}`)).toEqual([2]);
  });

  test("metadata is replaced, and found by its new pairs", async () => {
    const [id = ""] = await three();
    const path = `/v1/chat/completions/${id}`;
    expect(read<Completion>(await harness.post(path, { metadata: { topic: "new" } }))).toMatchObject({
      id,
      metadata: { topic: "new" },
    });
    expect((await list("?metadata[topic]=new")).data.map((one) => one.id)).toEqual([id]);
    expect((await list("?metadata[of]=three")).data).toHaveLength(2);
    expect(errorOf(await harness.post(path, { metadata: { a: 7 } }))).toMatchObject({
      status: 400,
      param: "metadata.a",
    });
    expect(errorOf(await harness.post(path, {}))).toMatchObject({ status: 400, param: "metadata" });
  });

  test("messages are those of the request, with ids, texts or parts", async () => {
    answers("Blue.");
    const parts = [{ type: "text", text: "What colour?" }];
    const messages = [{ role: "system", content: "Be brief." }, user(parts), { ...user("Well?"), name: "Ada" }];
    const { id } = read<Completion>(await create({ messages }));
    const page = read<Page<JsonObject>>(await harness.ask("GET", `/v1/chat/completions/${id}/messages`));
    expect(page).toEqual({
      object: "list",
      data: [
        { role: "system", id: `${id}-0`, content: "Be brief.", content_parts: null },
        { role: "user", id: `${id}-1`, content: null, content_parts: parts },
        { role: "user", name: "Ada", id: `${id}-2`, content: "Well?", content_parts: null },
      ],
      first_id: `${id}-0`,
      last_id: `${id}-2`,
      has_more: false,
    });
    const next = `/v1/chat/completions/${id}/messages?order=desc&limit=1&after=${id}-2`;
    expect(read<Page<JsonObject>>(await harness.ask("GET", next))).toMatchObject({
      data: [{ id: `${id}-1` }],
      has_more: true,
    });
  });

  test("delete removes it with its messages", async () => {
    const [id = ""] = await three();
    const path = `/v1/chat/completions/${id}`;
    expect(read<JsonObject>(await harness.ask("DELETE", path))).toEqual({
      id,
      object: "chat.completion.deleted",
      deleted: true,
    });
    for (const [method, end] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/messages"],
    ] as const) {
      expect(errorOf(await harness.ask(method, path + end))).toEqual({
        status: 404,
        code: "completion_not_found",
        param: "id",
      });
    }
    expect((await list()).data).toHaveLength(2);
    expect(await machine.storage.query("SELECT name FROM answer_metadata WHERE answer_id = ?", [id])).toEqual([]);
  });

  test("wrong queries are refused with their path", async () => {
    for (const [query, param] of [
      ["limit=101", "limit"],
      ["order=up", "order"],
      ["after=chatcmpl-none", "after"],
      [[...Array(17).keys()].map((key) => `metadata[k${key}]=v`).join("&"), "metadata"],
    ]) {
      expect(errorOf(await harness.ask("GET", `/v1/chat/completions?${query}`))).toMatchObject({ status: 400, param });
    }
  });

  test("files are kept by their ids", async () => {
    const form = new FormData();
    form.append("file", new Blob(["The harbour opens at nine."], { type: "text/plain" }), "notes.txt");
    form.append("purpose", "user_data");
    const { id: file } = read<{ id: string }>(await machine.clock.until(harness.sendForm("/v1/files", form).answer));
    answers("At nine.");
    const parts = [{ type: "file", file: { file_id: file } }];
    const { id } = read<Completion>(await create({ messages: [user(parts)] }));
    expect(JSON.stringify(sent())).toContain("The harbour opens at nine.");
    const page = read<Page<JsonObject>>(await harness.ask("GET", `/v1/chat/completions/${id}/messages`));
    expect(page.data[0]).toMatchObject({ content_parts: parts });
  });
});
