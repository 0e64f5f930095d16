import { beforeEach, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { streamText } from "../support/continuing-host.ts";

const OTHER_KEY = "a-key-of-another-project";
const CHAT_KEY = "a-key-for-chats-alone-here";
const HOUR = 3_600_000;
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };

const SCRIPTED = scriptedModels(UPSTREAM_URL);
const NATIVE = {
  ...(SCRIPTED["models"] as object[])[0],
  id: "test/native",
  offers: [{ provider: "up-chat", model: "upstream-model", dialect: "responses" }],
};
/** Two providers, the second of which continues a partial response. */
const PAIR = {
  ...(SCRIPTED["models"] as object[])[0],
  id: "test/pair",
  offers: [
    { provider: "up-chat", model: "upstream-model", prefill: false },
    { provider: "up-messages", model: "upstream-model", prefill: true },
  ],
};
const CONFIG = {
  ...SCRIPTED,
  models: [...(SCRIPTED["models"] as object[]), NATIVE, PAIR],
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "others", project: "others", key: OTHER_KEY },
    { name: "chats", key: CHAT_KEY, protocols: ["chat"] },
  ],
};

/** Providers that may take their time. */
const patient = (providers: Record<string, object>) =>
  Object.fromEntries(
    Object.entries(providers).map(([name, one]) => [
      name,
      { ...one, timeout_ms: { first_byte: 90_000, idle: 90_000 } },
    ]),
  );

interface StoredResponse {
  id: string;
  status: string;
  store: boolean;
  previous_response_id: string | null;
  output: { id: string; type: string; content?: { text: string }[] }[];
  error: { code: string; message: string } | null;
}

const read = ({ text }: ReadAnswer): StoredResponse => JSON.parse(text) as StoredResponse;
const errorOf = ({ status, text }: ReadAnswer) => {
  const { code, message, param } = (JSON.parse(text) as { error: { code: string; message: string; param: string } })
    .error;
  return { status, code, message, param };
};

let machine: Machine;
let harness: Harness;
let log: string[];

async function start(config: Record<string, unknown> = {}): Promise<Harness> {
  return await Harness.start({ config: { ...CONFIG, ...config }, machine, onLog: (line) => void log.push(line) });
}

beforeEach(async () => {
  machine = await makeMachine();
  log = [];
  harness = await start();
});

/** The model's upstream answers every request with this. */
function answers(text: string, dialect: "chat" | "messages" | "genai" = "chat"): void {
  const { upstream } = machine;
  upstream.play(upstream.json(plainAnswer(dialect, { text, usage: plainUsage(dialect, 10, 5) })));
}

const create = (body: JsonObject, key = TEST_KEY, at = harness): Promise<ReadAnswer> =>
  at.post("/v1/responses", { model: "test/chat", ...body }, key);

/** What the last upstream received, as role and text. */
function told(): unknown {
  const body = JSON.parse(machine.upstream.requests.at(-1)?.body ?? "{}") as {
    messages: { role: string; content: unknown }[];
  };
  return body.messages.map(({ role, content }) => [role, content]);
}

async function conversation(): Promise<{ first: StoredResponse; second: StoredResponse }> {
  answers("Hello, Ada.");
  const first = read(await create({ input: "My name is Ada." }));
  answers("Your name is Ada.");
  const second = read(await create({ input: "What is my name?", previous_response_id: first.id }));
  return { first, second };
}

describe("R12: previous_response_id", () => {
  test("the whole conversation is sent, and the response names what it builds on", async () => {
    const { first, second } = await conversation();
    expect(told()).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello, Ada."],
      ["user", "What is my name?"],
    ]);
    expect(second).toMatchObject({ status: "completed", store: true, previous_response_id: first.id });
    answers("Goodbye.");
    await create({ input: [{ role: "user", content: "Bye." }], previous_response_id: second.id });
    expect(told()).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello, Ada."],
      ["user", "What is my name?"],
      ["assistant", "Your name is Ada."],
      ["user", "Bye."],
    ]);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("two conversations may continue one response", async () => {
    const { first } = await conversation();
    answers("No.");
    await create({ input: "Do you know Bob?", previous_response_id: first.id });
    expect(told()).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello, Ada."],
      ["user", "Do you know Bob?"],
    ]);
  });

  test("the next turn may use a model of another dialect, with a tool's result", async () => {
    const { upstream } = machine;
    const call = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"sky"}' } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    upstream.play(
      upstream.json({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices,
        usage: plainUsage("chat", 1, 1),
      }),
    );
    const tools = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];
    const first = read(await create({ input: "Look up.", tools }));
    answers("It is blue.", "messages");
    const output = { type: "function_call_output", call_id: "call_1", output: "blue" };
    const second = await create({ model: "test/messages", input: [output], tools, previous_response_id: first.id });
    expect(second.status).toBe(200);
    const { messages } = JSON.parse(upstream.requests[0]?.body ?? "") as { messages: JsonObject[] };
    expect(messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "look", input: { at: "sky" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
    ]);
  });

  test("a streamed response can be continued as soon as its last event has arrived", async () => {
    const { upstream } = machine;
    upstream.play(upstream.stream(plainStream("chat", ["Hello, ", "Ada."], plainUsage("chat", 10, 5))));
    const streamed = await create({ input: "My name is Ada.", stream: true });
    const last = streamed.text.split("\n").findLast((line) => line.startsWith("data: ")) ?? "";
    const { type, response } = JSON.parse(last.slice("data: ".length)) as { type: string; response: StoredResponse };
    expect([type, response.store]).toEqual(["response.completed", true]);
    answers("Ada.");
    await create({ input: "Who?", previous_response_id: response.id });
    expect(told()).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello, Ada."],
      ["user", "Who?"],
    ]);
  });

  test("across a restart, and with another instance on the same storage", async () => {
    const { second } = await conversation();
    const restarted = await start();
    answers("Still Ada.");
    const third = await create({ input: "Again?", previous_response_id: second.id }, TEST_KEY, restarted);
    expect(third.status).toBe(200);
    expect(told()).toHaveLength(5);
    expect((await harness.ask("GET", `/v1/responses/${read(third).id}`)).text).toBe(third.text);
  });

  test("after it expires it is refused in the vendor's words; what others build on is kept", async () => {
    const { first, second } = await conversation();
    await machine.clock.pass(167 * HOUR);
    answers("Yes.");
    const third = read(await create({ input: "There?", previous_response_id: second.id }));
    await machine.clock.pass(2 * HOUR);
    expect((await create({ input: "And now?", previous_response_id: third.id })).status).toBe(200);
    await machine.clock.pass(169 * HOUR);
    for (const { id } of [first, second, third]) {
      expect(errorOf(await create({ input: "Hello?", previous_response_id: id }))).toEqual({
        status: 400,
        code: "previous_response_not_found",
        message: `Previous response with id '${id}' not found. \`previous_response_id\` must be the id of a stored response that this key can access and that has not expired.`,
        param: "previous_response_id",
      });
    }
    expect(machine.upstream.requests.length).toBe(2);
  });

  test("S09, H57: another project's id is 400 in a request and 404 in a URL, at every endpoint, and has no effect", async () => {
    const { second } = await conversation();
    const foreign = await create({ input: "What is my name?", previous_response_id: second.id }, OTHER_KEY);
    expect(errorOf(foreign)).toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
    const path = `/v1/responses/${second.id}`;
    for (const [method, end] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/input_items"],
      ["POST", "/cancel"],
    ]) {
      expect((await harness.ask(method ?? "", path + end, OTHER_KEY)).status).toBe(404);
    }
    expect((await harness.ask("GET", path)).status).toBe(200);
  });

  test("hostile: unknown ids, ids of 1,000 characters and ids with unusual characters are refused, and not repeated in full", async () => {
    answers("Hello.");
    for (const id of ["resp_none", "r".repeat(1_000), "' OR 1=1 --", "a\0b", "%2e%2e/", ""]) {
      const refused = errorOf(await create({ input: "Hi", previous_response_id: id }));
      expect(refused).toMatchObject({ status: 400, code: "previous_response_not_found" });
      expect(refused.message.length).toBeLessThan(400);
    }
    expect((await harness.ask("GET", `/v1/responses/${"r".repeat(1_000)}`)).status).toBe(404);
    expect(machine.upstream.requests).toEqual([]);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("hostile: a history of 10,000 items is stored and continued; one beyond the size of a body is refused", async () => {
    const input = Array.from({ length: 10_000 }, (_, index) => ({ role: "user", content: `item ${index}` }));
    answers("Many.");
    const first = read(await create({ input }));
    const second = await create({ input: "How many?", previous_response_id: first.id });
    expect(second.status).toBe(200);
    const { messages } = JSON.parse(machine.upstream.requests.at(-1)?.body ?? "") as { messages: unknown[] };
    expect(JSON.stringify(messages)).toContain("item 9999");
    const small = await start({ server: { max_body_mb: 0.2 } });
    expect(
      errorOf(await create({ input: "How many?", previous_response_id: first.id }, TEST_KEY, small)),
    ).toMatchObject({
      status: 400,
      code: "context_length_exceeded",
    });
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("tokens are counted with the history", async () => {
    const { second } = await conversation();
    const count = async (body: JsonObject) => {
      const { text } = await harness.post("/v1/responses/input_tokens", { model: "test/chat", ...body });
      return (JSON.parse(text) as { input_tokens: number }).input_tokens;
    };
    const alone = await count({ input: "Why?" });
    expect(await count({ input: "Why?", previous_response_id: second.id })).toBeGreaterThan(alone + 5);
  });
});

describe("at a host that speaks the protocol itself", () => {
  const thought = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA-sealed" };
  const said = (id: string, text: string) => ({
    id,
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  });
  const hostAnswer = (id: string, output: object[]) => ({
    id,
    object: "response",
    created_at: 1,
    status: "completed",
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: "upstream-model",
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    },
  });
  const sent = () => JSON.parse(machine.upstream.requests.at(-1)?.body ?? "{}") as JsonObject;

  test("R10, R12: it gets the whole conversation, reasoning with its id and value, and no state", async () => {
    const { upstream } = machine;
    upstream.play(upstream.json(hostAnswer("resp_host_1", [thought, said("msg_1", "Hello, Ada.")])));
    const first = read(await create({ model: "test/native", input: "My name is Ada." }));
    expect(first).toMatchObject({ store: true, previous_response_id: null });
    expect(first.id).toMatch(/^resp_[a-zA-Z0-9]{22}$/);
    upstream.play(upstream.json(hostAnswer("resp_host_2", [said("msg_2", "Ada.")])));
    const second = read(await create({ model: "test/native", input: "Who?", previous_response_id: first.id }));
    expect(second).toMatchObject({ store: true, previous_response_id: first.id });
    expect(sent()["input"]).toEqual([
      { type: "message", role: "user", content: "My name is Ada." },
      thought,
      said("msg_1", "Hello, Ada."),
      { type: "message", role: "user", content: "Who?" },
    ]);
    expect(sent()).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    expect(sent()["previous_response_id"]).toBeUndefined();
    // The next turn goes to another family, which gets the text but not the sealed value.
    answers("Ada!", "messages");
    const third = await create({ model: "test/messages", input: "Sure?", previous_response_id: second.id });
    expect(third.status).toBe(200);
    expect(machine.upstream.requests[0]?.body).toContain("Hello, Ada.");
    expect(machine.upstream.requests[0]?.body).not.toContain("gAAAA");
  });

  test("a stream is stored from its events, R3, and continued at a host of another dialect", async () => {
    const { upstream } = machine;
    const whole = hostAnswer("resp_host_1", []);
    const item = said("msg_1", "Hello, Ada.");
    const at = { output_index: 0 };
    const part = { item_id: "msg_1", ...at, content_index: 0 };
    const events: object[] = [
      { type: "response.created", response: { ...whole, status: "in_progress", usage: null } },
      { type: "response.output_item.added", ...at, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.output_text.delta", ...part, delta: "Hello, Ada.", logprobs: [] },
      { type: "response.output_item.done", ...at, item },
      { type: "response.completed", response: whole },
    ];
    const frames = events.map((event, sequence_number) => {
      const { type } = event as { type: string };
      return `event: ${type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`;
    });
    upstream.play(upstream.stream(frames.join("")));
    const streamed = await create({ model: "test/native", input: "My name is Ada.", stream: true });
    expect(streamed.text).toContain('"store":true');
    expect(streamed.text).not.toContain("resp_host_1");
    const { response } = JSON.parse(streamed.text.slice(streamed.text.lastIndexOf("data: ") + 6)) as {
      response: StoredResponse;
    };
    expect(streamed.text.split(`"id":"${response.id}"`)).toHaveLength(3);
    expect(read(await harness.ask("GET", `/v1/responses/${response.id}`))).toMatchObject({ output: [{ id: "msg_1" }] });
    answers("Ada.");
    await create({ input: "Who?", previous_response_id: response.id });
    expect(told()).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello, Ada."],
      ["user", "Who?"],
    ]);
  });

  test("in the background the response keeps the id that its client received, and says so", async () => {
    const { upstream } = machine;
    upstream.play(upstream.json(hostAnswer("resp_host_1", [said("msg_1", "Done.")])));
    const { id } = read(await create({ model: "test/native", input: "Hi", background: true }));
    await machine.clock.pass(100);
    expect(sent()["background"]).toBeUndefined();
    const done = read(await harness.ask("GET", `/v1/responses/${id}`));
    expect(done).toMatchObject({ id, status: "completed", background: true, store: true });
    expect(id).not.toBe("resp_host_1");
  });

  test("hostile: two responses with one id from the host are continued separately", async () => {
    const { upstream } = machine;
    upstream.play(upstream.json(hostAnswer("resp_same", [said("msg_1", "Yes.")])));
    const one = read(await create({ model: "test/native", input: "One?" }));
    const two = read(await create({ model: "test/native", input: "Two?" }));
    for (const [{ id }, asked] of [
      [one, "One?"],
      [two, "Two?"],
    ] as const) {
      await create({ model: "test/native", input: "Sure?", previous_response_id: id });
      expect((sent()["input"] as { content: unknown }[])[0]?.content).toBe(asked);
    }
  });
});

describe("store", () => {
  test("false stores nothing, and the response says so", async () => {
    answers("Hello.");
    const response = read(await create({ input: "Hi", store: false }));
    expect(response.store).toBe(false);
    expect((await harness.ask("GET", `/v1/responses/${response.id}`)).status).toBe(404);
    expect(await machine.storage.query("SELECT id FROM answers")).toEqual([]);
    expect((await create({ input: "Hi", previous_response_id: response.id })).status).toBe(400);
  });

  test("responses.store: false in the configuration stores nothing, whatever a request says", async () => {
    const off = await start({ responses: { store: false } });
    answers("Hello.");
    const response = read(await create({ input: "Hi", store: true }, TEST_KEY, off));
    expect(response.store).toBe(false);
    expect(await machine.storage.query("SELECT id FROM answers")).toEqual([]);
    expect((await create({ input: "Hi", previous_response_id: response.id }, TEST_KEY, off)).status).toBe(400);
  });

  test("a failed response is not stored, a truncated one is", async () => {
    const { upstream } = machine;
    upstream.play(upstream.json({ error: { message: "no", type: "invalid_request_error" } }, 400));
    await create({ input: "Hi" });
    expect(await machine.storage.query("SELECT id FROM answers")).toEqual([]);
    const answer = plainAnswer("chat", { text: "Hel", usage: plainUsage("chat", 1, 1), stop: "length" });
    upstream.play(upstream.json(answer));
    const { id, status } = read(await create({ input: "Hi" }));
    expect([status, read(await harness.ask("GET", `/v1/responses/${id}`)).status]).toEqual([
      "incomplete",
      "incomplete",
    ]);
  });

  const WHOLE = "The Seine rises in Burgundy, passes through Paris and reaches the Channel at Le Havre.";
  const CUT = WHOLE.indexOf(" and reaches");
  const textOf = ({ output }: StoredResponse) => output.flatMap(({ content = [] }) => content.map(({ text }) => text));

  test("H17: a response that broke off and continued elsewhere is stored whole, as its client got it", async () => {
    const { upstream } = machine;
    upstream.play(
      upstream.brokenStream(wire.chatChunk({ content: WHOLE.slice(0, CUT) }), 100),
      upstream.stream(streamText("messages", WHOLE.slice(CUT))),
    );
    const body = { model: "test/pair", input: "Describe the Seine.", stream: true, trivium: { survive: true } };
    const { text } = await create(body);
    const { response } = JSON.parse(text.slice(text.lastIndexOf("data: ") + 6)) as { response: StoredResponse };
    expect(textOf(response)).toEqual([WHOLE]);
    const kept = read(await harness.ask("GET", `/v1/responses/${response.id}`));
    expect(kept).toEqual(response);
    expect(await machine.storage.query("SELECT id FROM answers")).toHaveLength(1);
  });

  test("of two hedged providers, the response that the client got is stored", async () => {
    const { upstream, clock } = machine;
    const slowly =
      (after: number, dialect: "chat" | "messages", text: string): Script =>
      async (reply) => {
        await clock.sleep(after);
        reply.head(200, {});
        void reply.write(JSON.stringify(plainAnswer(dialect, { text, usage: plainUsage(dialect, 1, 1) })));
        reply.end();
      };
    const hedging = await start({ providers: patient(SCRIPTED["providers"] as Record<string, object>) });
    upstream.play(slowly(60_000, "chat", "Slow."), slowly(1_000, "messages", "Quick."));
    const body = { model: "test/pair", input: "Hi", trivium: { hedge: true } };
    const response = read(await create(body, TEST_KEY, hedging));
    expect(textOf(response)).toEqual(["Quick."]);
    expect(textOf(read(await harness.ask("GET", `/v1/responses/${response.id}`)))).toEqual(["Quick."]);
    expect(await machine.storage.query("SELECT id FROM answers")).toHaveLength(1);
  });

  test("S10: neither log nor storage contains any content", async () => {
    answers("The treasure is at Kupfergraben.");
    const { id } = read(await create({ input: "Where is the Nibelungenhort?" }));
    await create({ input: "Kupferstich?", previous_response_id: id });
    await create({ input: "Kupferstich?", previous_response_id: "resp_unknown" });
    await harness.ask("GET", `/v1/responses/${id}/input_items`);
    await harness.ask("DELETE", `/v1/responses/${id}`);
    await harness.gateway.log.flush();
    expect(log.join("")).toContain("rcp_");
    expect(log.join("")).not.toMatch(/Kupfer|Nibelungen/);
    const tables = ["answers", "answer_items", "operations", "receipts"];
    for (const table of tables) {
      const rows = await machine.storage.query(`SELECT * FROM ${table}`);
      for (const value of rows.flatMap((row) => Object.values(row))) {
        const bytes = value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value);
        expect(bytes).not.toMatch(/Kupfer|Nibelungen/);
      }
    }
  });

  test("S04: a key for another protocol sees no stored response of its project", async () => {
    const { first } = await conversation();
    for (const [method, end] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/input_items"],
      ["POST", "/cancel"],
    ]) {
      expect((await harness.ask(method ?? "", `/v1/responses/${first.id}${end}`, CHAT_KEY)).status).toBe(403);
    }
    expect((await harness.ask("GET", `/v1/responses/${first.id}`)).status).toBe(200);
  });

  test("H29: an unresponsive storage delays a response by two seconds, and the headers, the receipt and the log say that it was not stored", async () => {
    const { storage, clock, fileStore, upstream } = machine;
    const stuck: Storage = {
      engine: storage.engine,
      query: (...query) => storage.query(...query),
      runForEach: (...rows) => storage.runForEach(...rows),
      changeStamp: () => storage.changeStamp(),
      close: () => storage.close(),
      transaction: () => new Promise<never>(() => {}),
    };
    const within = { clock, send: upstream.send, storage: stuck, fileStore };
    const slow = await Harness.start({ config: CONFIG, machine, within, onLog: (line) => void log.push(line) });
    answers("Hello.");
    const answer = await create({ input: "Hi" }, TEST_KEY, slow);
    expect([answer.status, answer.endMs]).toEqual([200, 2_000]);
    expect(answer.headers.get("x-trivium-dropped")).toBe("store");
    expect((await slow.receipt(answer)).fields).toContainEqual({
      path: "store",
      action: "dropped",
      reason: "the gateway's storage did not answer in time",
    });
    await slow.gateway.log.flush();
    expect(log.join("")).toContain('"msg":"response was not stored"');
    expect((await create({ input: "Hm?", previous_response_id: read(answer).id }, TEST_KEY, slow)).status).toBe(400);
    expect(slow.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("deleted: the response and its items are gone, and what builds on it can be read but not continued", async () => {
    const { first, second } = await conversation();
    const deleted = await harness.ask("DELETE", `/v1/responses/${first.id}`);
    expect(JSON.parse(deleted.text)).toEqual({ id: first.id, object: "response", deleted: true });
    expect((await harness.ask("DELETE", `/v1/responses/${first.id}`)).status).toBe(404);
    expect(errorOf(await harness.ask("GET", `/v1/responses/${first.id}`))).toEqual({
      status: 404,
      code: "response_not_found",
      message: `Response with id '${first.id}' not found.`,
      param: "id",
    });
    expect((await harness.ask("GET", `/v1/responses/${second.id}`)).status).toBe(200);
    const refused = errorOf(await create({ input: "Hm?", previous_response_id: second.id }));
    expect(refused).toMatchObject({ status: 400, code: "previous_response_not_found" });
    expect(refused.message).toEndWith(`It continues '${first.id}', which has expired or was deleted.`);
  });

  test("the input items of a response are listed, including those of the conversation", async () => {
    const { second } = await conversation();
    const { text } = await harness.ask("GET", `/api/v1/responses/${second.id}/input_items?order=asc`);
    const { data } = JSON.parse(text) as { data: { role: string; content: { text: string }[] }[] };
    expect(data.map(({ role, content }) => [role, content[0]?.text])).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello, Ada."],
      ["user", "What is my name?"],
    ]);
  });
});

describe("R13: item_reference", () => {
  test("a stored item takes its place; an unknown one or one of another project is dropped and noted; a strict call is refused", async () => {
    const { first } = await conversation();
    const [item] = first.output;
    const input = [
      { role: "user", content: "My name is Ada." },
      { type: "item_reference", id: item?.id ?? "" },
      { type: "item_reference", id: "rs_unknown" },
      { role: "user", content: "Who?" },
    ];
    const answer = await create({ input });
    expect(told()).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello, Ada."],
      ["user", "Who?"],
    ]);
    expect(answer.headers.get("x-trivium-dropped")).toBe("input[2]");
    const foreign = await create({ input }, OTHER_KEY);
    expect(foreign.headers.get("x-trivium-dropped")).toBe("input[1],input[2]");
    const strict = harness.sendPost("/v1/responses", { model: "test/chat", input }, TEST_KEY, {
      "x-trivium-strict": "true",
    });
    expect((await machine.clock.until(strict.answer)).status).toBe(400);
  });

  test("hostile: 10,000 references to nonexistent items cost no further request", async () => {
    answers("Hello.");
    const references = Array.from({ length: 10_000 }, (_, index) => ({ type: "item_reference", id: `rs_${index}` }));
    const answer = await create({ input: [{ role: "user", content: "Hi" }, ...references] });
    expect(answer.status).toBe(200);
    expect(told()).toEqual([["user", "Hi"]]);
    expect((await harness.receipt(answer)).fields.length).toBeLessThan(400);
  });

  test("S23: an item counts as often as it is named, within the limit of a request", async () => {
    answers("x".repeat(10_000));
    const [item] = read(await create({ input: "Hi" })).output;
    const small = await start({ server: { max_body_mb: 0.1 } });
    const named = (times: number) => [
      ...Array.from({ length: times }, () => ({ type: "item_reference", id: item?.id ?? "" })),
      { role: "user", content: "Go on." },
    ];
    expect((await create({ input: named(3) }, TEST_KEY, small)).status).toBe(200);
    const before = machine.upstream.requests.length;
    const refused = errorOf(await create({ input: named(1_000) }, TEST_KEY, small));
    expect(refused).toMatchObject({ status: 400, code: "context_length_exceeded", param: "input" });
    expect(machine.upstream.requests).toHaveLength(before);
    expect(small.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe("background", () => {
  test("the response is queued at once, made without its client, found by polling, and billed once", async () => {
    const { upstream, clock } = machine;
    upstream.play(async (reply) => {
      await clock.sleep(1_000);
      reply.head(200, {});
      void reply.write(JSON.stringify(plainAnswer("chat", { text: "Done.", usage: plainUsage("chat", 10, 5) })));
      reply.end();
    });
    const queued = await create({ input: "Take your time.", background: true });
    const { id, status, store } = read(queued);
    expect([status, store]).toEqual(["queued", true]);
    expect(read(await harness.ask("GET", `/v1/responses/${id}`)).status).toBe("in_progress");
    expect(errorOf(await create({ input: "Hm?", previous_response_id: id }))).toMatchObject({
      status: 400,
      param: "previous_response_id",
    });
    await clock.pass(2_000);
    const done = read(await harness.ask("GET", `/v1/responses/${id}`));
    expect(done).toMatchObject({ id, status: "completed", output: [{ type: "message" }] });
    expect(await harness.receipts()).toHaveLength(1);
    expect((await harness.receipt(queued)).usage).toMatchObject({ input: 10, output: 5 });
    answers("Yes.");
    expect((await create({ input: "Sure?", previous_response_id: id })).status).toBe(200);
    expect(await machine.storage.query("SELECT id FROM operations")).toEqual([]);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("a failed one says so when polled, in the vendor's codes", async () => {
    machine.upstream.play(machine.upstream.json({ error: { message: "overloaded" } }, 500));
    const { id } = read(await create({ input: "Hi", background: true }));
    await machine.clock.pass(60_000);
    const failed = read(await harness.ask("GET", `/v1/responses/${id}`));
    expect(failed).toMatchObject({ id, status: "failed", error: { code: "server_error" } });
    expect((await create({ input: "Hm?", previous_response_id: id })).status).toBe(400);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("cancelled: at once by the instance that makes it, within seconds by another; the provider's work is ended", async () => {
    const { upstream, clock } = machine;
    for (const other of [false, true]) {
      upstream.play((reply) => void reply.closed);
      const { id } = read(await create({ input: "Hi", background: true }));
      await clock.pass(100);
      const canceller = other ? await start() : harness;
      const cancelled = await canceller.ask("POST", `/v1/responses/${id}/cancel`);
      expect(read(cancelled)).toMatchObject({ id, status: "cancelled" });
      await clock.pass(10_000);
      expect(harness.leftovers()).toEqual(NOTHING_LEFT);
      expect(read(await harness.ask("GET", `/v1/responses/${id}`)).status).toBe("cancelled");
      expect(read(await harness.ask("POST", `/v1/responses/${id}/cancel`)).status).toBe("cancelled");
    }
  });

  test("a response that was not streamed cannot be streamed later: the error says what to do", async () => {
    const { first } = await conversation();
    const refused = await harness.ask("GET", `/v1/responses/${first.id}?stream=true&starting_after=3`);
    expect(errorOf(refused)).toMatchObject({ status: 400, param: "stream" });
    expect((await harness.ask("GET", `/v1/responses/${first.id}?stream=false`)).status).toBe(200);
  });

  test("what is not in the background, or has ended, cannot be cancelled", async () => {
    const { first } = await conversation();
    expect(errorOf(await harness.ask("POST", `/v1/responses/${first.id}/cancel`))).toMatchObject({
      status: 400,
      param: "id",
    });
    expect((await harness.ask("POST", "/v1/responses/resp_none/cancel")).status).toBe(404);
  });

  test("it requires a stored response", async () => {
    expect(errorOf(await create({ input: "Hi", background: true, store: false }))).toMatchObject({
      status: 400,
      param: "background",
    });
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("deleted in progress: the provider's work is ended, and nothing is stored", async () => {
    machine.upstream.play((reply) => void reply.closed);
    const { id } = read(await create({ input: "Hi", background: true }));
    expect((await harness.ask("DELETE", `/v1/responses/${id}`)).status).toBe(200);
    await machine.clock.pass(10_000);
    expect((await harness.ask("GET", `/v1/responses/${id}`)).status).toBe(404);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });
});
