import { beforeEach, describe, expect, test } from "bun:test";
import { arrayAt, type JsonObject, objectAt, stringAt } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

/** At the prices of `scriptedModels`. */
const COST_NANO_USD = 10 * 1_000 + 20 * 2_000;
const stream = (dialect: (typeof SCRIPTED_DIALECTS)[number], texts: readonly [string, string] = ["It is ", "so."]) =>
  plainStream(dialect, texts, plainUsage(dialect, 10, 20));

const create = (more: object = {}) => ({
  type: "response.create",
  model: "test/responses",
  input: "Is it so?",
  store: false,
  ...more,
});

let harness: Harness;
const start = async (sections: Record<string, unknown> = {}) => {
  harness = await Harness.start({ config: { ...modelsOfEveryDialect(UPSTREAM_URL), ...sections } });
};
beforeEach(() => start());

const responseOf = (event: JsonObject): JsonObject => objectAt(event, "response") ?? {};
const textOf = (event: JsonObject): string =>
  arrayAt(responseOf(event), "output")
    .flatMap((item) => arrayAt(item, "content").map((part) => stringAt(part, "text")))
    .join("");
const errorOf = (event: JsonObject): JsonObject => objectAt(event, "error") ?? {};

describe("decision 0115: Responses over a WebSocket", () => {
  for (const dialect of SCRIPTED_DIALECTS) {
    test(`a turn on a host of ${dialect} has the events of a stream, a receipt and the session's id`, async () => {
      harness.upstream.play(harness.upstream.stream(stream(dialect)));
      const client = await harness.openLive();
      client.say(create({ model: `test/${dialect}` }));
      const done = await client.hears("response.completed");
      const [first, ...others] = client.events;
      const session = stringAt(first, "session_id");
      expect(session).toStartWith("ses_");
      expect(others.some((event) => "session_id" in event || "stream_id" in event)).toBe(false);
      expect(client.events.map(({ sequence_number }) => sequence_number)).toEqual(client.events.map((_, at) => at));
      expect(textOf(done)).toBe("It is so.");
      const id = stringAt(objectAt(responseOf(done), "metadata"), "trivium_receipt") ?? "";
      expect(await harness.receiptOf(id)).toMatchObject({
        session_id: session,
        model: `test/${dialect}`,
        stream: true,
        cost_nano_usd: COST_NANO_USD,
        lane: dialect === "responses" ? "native" : "translated",
      });
      expect(client.closed).toBeUndefined();
    });
  }

  test("a turn continues an earlier one that nothing has stored", async () => {
    harness.upstream.play(
      harness.upstream.stream(stream("responses", ["Yes, ", "it is."])),
      harness.upstream.stream(stream("messages", ["Quite ", "sure."])),
      harness.upstream.stream(stream("responses")),
    );
    const client = await harness.openLive();
    client.say(create());
    const first = stringAt(responseOf(await client.hears("response.completed")), "id");
    client.say(
      create({ model: "test/messages", input: [{ role: "user", content: "Sure?" }], previous_response_id: first }),
    );
    const done = await client.hears("response.completed", client.events.length);
    expect(responseOf(done)["previous_response_id"]).toBe(first);
    const asked = JSON.parse(harness.upstream.requests[1]?.body ?? "{}") as { messages: { role: string }[] };
    expect(asked.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    client.say(create({ input: "And now?", previous_response_id: stringAt(responseOf(done), "id") }));
    await client.hears("response.completed", client.events.length);
    const last = JSON.parse(harness.upstream.requests[2]?.body ?? "{}") as JsonObject;
    expect(JSON.stringify(last["input"])).toMatch(/Is it so.*Yes, it is.*Sure.*Quite sure.*And now/s);
    expect(last).not.toHaveProperty("previous_response_id");
    expect(last).not.toHaveProperty("type");
  });

  test("another connection cannot continue a turn that is not stored", async () => {
    harness.upstream.play(harness.upstream.stream(stream("responses")));
    const client = await harness.openLive();
    client.say(create());
    const id = stringAt(responseOf(await client.hears("response.completed")), "id");
    const other = await harness.openLive();
    other.say(create({ previous_response_id: id }));
    const refused = await other.hears("error");
    expect(refused).toMatchObject({ status: 400, session_id: expect.stringContaining("ses_") });
    expect(errorOf(refused)).toMatchObject({
      code: "previous_response_not_found",
      param: "previous_response_id",
      headers: { "x-trivium-request-id": expect.any(String) },
    });
    expect(other.closed).toBeUndefined();
  });

  test("a stored turn continues one that is not, and is found over HTTP with all of it", async () => {
    harness.upstream.play(
      harness.upstream.stream(stream("responses", ["Yes, ", "it is."])),
      harness.upstream.stream(stream("responses")),
    );
    const client = await harness.openLive();
    client.say(create());
    const first = stringAt(responseOf(await client.hears("response.completed")), "id");
    client.say(create({ store: true, input: "Sure?", previous_response_id: first }));
    const kept = stringAt(responseOf(await client.hears("response.completed", client.events.length)), "id");
    const over = await harness.post("/v1/responses", {
      model: "test/responses",
      input: "And now?",
      stream: true,
      previous_response_id: kept,
    });
    expect(over.status).toBe(200);
    expect(harness.upstream.requests[2]?.body).toMatch(/Is it so.*Yes, it is.*Sure.*It is so.*And now/s);
  });

  test("generate: false calls no model, costs nothing, and is continued", async () => {
    harness.upstream.play(harness.upstream.stream(stream("responses")));
    const client = await harness.openLive();
    client.say(create({ generate: false, input: [{ role: "developer", content: "Be brief." }] }));
    const ready = responseOf(await client.hears("response.completed"));
    expect(ready).toMatchObject({ output: [], status: "completed", usage: { total_tokens: 0 } });
    expect(harness.upstream.requests).toHaveLength(0);
    client.say(create({ previous_response_id: ready["id"] }));
    await client.hears("response.completed", client.events.length);
    expect(harness.upstream.requests[0]?.body).toMatch(/Be brief.*Is it so/s);
    expect(await harness.receipts()).toHaveLength(1);
  });

  test("streams run side by side, one turn at a time in each, and every event names its stream", async () => {
    harness.upstream.play(harness.upstream.stream(100, stream("responses")));
    const client = await harness.openLive();
    client.say(create({ stream_id: "a" }));
    client.say(create({ stream_id: "b" }));
    client.say(create({ stream_id: "a" }));
    const refused = await client.hears("error");
    expect(refused).toMatchObject({ stream_id: "a", status: 400, error: { code: "response_in_progress" } });
    await harness.clock.pass(1_000);
    const ended = client.events.filter(({ type }) => type === "response.completed");
    expect(ended.map((event) => event["stream_id"]).sort()).toEqual(["a", "b"]);
    expect(client.events.every((event) => "stream_id" in event)).toBe(true);
    expect(await harness.receipts()).toHaveLength(2);
  });

  test("response.cancel ends a turn, which is billed for what it used, and frees its stream", async () => {
    harness.upstream.play(
      harness.upstream.openStream(stream("responses").split("response.output_text.done")[0] ?? ""),
      harness.upstream.stream(stream("responses")),
    );
    const client = await harness.openLive();
    client.say(create());
    const id = stringAt(responseOf(await client.hears("response.created")), "id");
    await client.hears("response.output_text.delta");
    client.say({ type: "response.cancel", response_id: id });
    const ended = await client.hears("response.incomplete");
    expect(ended).toMatchObject({
      response: { id, status: "incomplete", incomplete_details: { reason: "cancelled" } },
    });
    expect(ended["sequence_number"]).toBe(client.events.length - 1);
    client.say(create());
    await client.hears("response.completed");
    await harness.clock.pass(10_000);
    const [cancelled, next] = await harness.receipts();
    expect(cancelled).toMatchObject({ usage_source: expect.stringMatching(/partial|estimated/) });
    expect(cancelled?.cost_nano_usd).toBeGreaterThan(0);
    expect(next?.cost_nano_usd).toBe(COST_NANO_USD);
    client.say({ type: "response.cancel", response_id: id });
    expect(await client.hears("error")).toMatchObject({ status: 404, error: { code: "response_not_found" } });
  });

  test.each([
    ["not JSON", "{", "is not valid JSON"],
    ["a list", "[]", "must be a JSON object"],
    ["an unknown type", { type: "session.update" }, 'type is "session.update"'],
    ["no type", { model: "test/responses" }, "type is missing"],
    ["a background response", create({ background: true }), "background is not supported over a WebSocket"],
    ["a stream_id of another type", create({ stream_id: 7 }), "stream_id must be a string"],
    ["no response_id", { type: "response.cancel" }, "response_id must be"],
    ["no model", { type: "response.create", input: "x" }, "model is missing"],
    ["an unknown model", create({ model: "no/such" }), "no/such"],
    [
      "a repeated field",
      '{"type":"response.create","model":"test/responses","input":"a","input":"b"}',
      "Duplicate field",
    ],
  ] as const)("%s is an error, and the connection stays open", async (_, frame, message) => {
    harness.upstream.play(harness.upstream.stream(stream("responses")));
    const client = await harness.openLive();
    client.say(frame as object | string);
    const refused = await client.hears("error");
    expect(errorOf(refused)["message"]).toContain(message);
    client.say(create());
    await client.hears("response.completed");
    expect(client.closed).toBeUndefined();
  });

  test("input for a turn in progress comes back, and the turn goes on", async () => {
    const [begun = "", rest = ""] = stream("responses").split(/(?=event: response.output_text.done)/);
    harness.upstream.play(harness.upstream.stream(begun, 1_000, rest));
    const client = await harness.openLive();
    client.say(create({ stream_id: "a" }));
    const id = stringAt(responseOf(await client.hears("response.created")), "id");
    client.say({ type: "response.steer", previous_response_id: id, input: "And briefly." });
    expect(await client.hears("response.steer.failed")).toMatchObject({
      stream_id: "a",
      error: { type: "invalid_request_error", code: "steering_not_supported" },
      steer: { previous_response_id: id, input: "And briefly." },
    });
    expect(textOf(await client.hears("response.completed"))).toBe("It is so.");
    expect((await harness.receipts()).map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([COST_NANO_USD]);
  });

  test("a binary frame is an error, and the connection stays open", async () => {
    const client = await harness.openLive();
    client.sayBytes(new Uint8Array(4));
    expect(errorOf(await client.hears("error"))["message"]).toContain("The frame is binary");
    expect(client.closed).toBeUndefined();
  });

  test("a turn counts towards the limits of its key", async () => {
    const key = `sk-trv-${"KeyWithTwoRequests".padEnd(43, "x")}`;
    await start({ keys: [{ name: "two", key, limits: { requests_per_minute: 2 } }] });
    harness.upstream.play(harness.upstream.stream(stream("responses")));
    const client = await harness.openLive("/v1/responses", { key });
    client.say(create());
    await client.hears("response.completed");
    client.say(create());
    expect(await client.hears("error")).toMatchObject({
      status: 429,
      error: { code: "rate_limit_exceeded", headers: { "retry-after": "60" } },
    });
  });
});

describe("decision 0115: bounds of a connection", () => {
  const KEY = `sk-trv-${"KeyWithOneSession".padEnd(43, "x")}`;
  const open = () => harness.openLive("/v1/responses", { key: KEY });

  test("one session too many is 429 before the upgrade, and a closed one makes room", async () => {
    await start({ keys: [{ name: "one", key: KEY, limits: { sessions: 1 } }] });
    const client = await open();
    await expect(open()).rejects.toThrow(/^429 .*open sessions; its limit is 1/);
    client.leave();
    await open();
  });

  test("live.sessions_per_key holds for keys without a limit of their own", async () => {
    await start({ live: { sessions_per_key: 2 }, keys: [{ name: "any", key: KEY }] });
    await open();
    await open();
    await expect(open()).rejects.toThrow(/^429 /);
  });

  test.each([
    ["an unknown key", { key: "sk-trv-unknown" }, /^401 .*invalid_api_key/],
    ["a key of other protocols", { key: KEY }, /^403 /],
  ])("%s is refused before the upgrade", async (_, options, refusal) => {
    await start({ keys: [{ name: "chat only", key: KEY, protocols: ["chat"] }] });
    await expect(harness.openLive("/v1/responses", options)).rejects.toThrow(refusal);
  });

  test("a connection without turns is closed after live.idle_seconds, not while one runs", async () => {
    await start({ live: { idle_seconds: 10 } });
    harness.upstream.play(
      harness.upstream.stream(...Array.from({ length: 14 }, () => [1_000, ": wait\n\n"]).flat(), stream("responses")),
    );
    const client = await harness.openLive();
    client.say(create());
    await harness.clock.pass(12_000);
    expect(client.closed).toBeUndefined();
    await harness.clock.pass(30_000);
    expect(client.closed).toMatchObject({ code: 1000, reason: expect.stringContaining("live.idle_seconds") });
    expect(client.events.some(({ type }) => type === "error")).toBe(false);
    expect(harness.context.live.open).toBe(0);
  });

  test("no turn begins after live.session_seconds, and the connection is closed after the last", async () => {
    await start({ live: { session_seconds: 5 } });
    harness.upstream.play(
      harness.upstream.stream(stream("responses").slice(0, 400), 1_200, stream("responses").slice(400)),
    );
    const client = await harness.openLive();
    await harness.clock.pass(4_500);
    client.say(create());
    expect(errorOf(await client.hears("error"))["code"]).toBe("websocket_connection_limit_reached");
    client.say(create({ stream_id: "late" }));
    await harness.clock.pass(3_000);
    expect(client.events.at(-1)?.type).toBe("response.completed");
    expect(client.events.filter(({ type }) => type === "error")).toHaveLength(2);
    expect(client.closed?.code).toBe(1001);
  });

  test("a frame above live.max_frame_mb is an error", async () => {
    await start({ live: { max_frame_mb: 0.001 } });
    const client = await harness.openLive();
    client.say(create({ input: "x".repeat(2_000) }));
    expect(await client.hears("error")).toMatchObject({ status: 413 });
    expect(client.closed).toBeUndefined();
  });

  test("a client that sends faster than live.bytes_per_second is disconnected", async () => {
    await start({ live: { max_frame_mb: 0.001, bytes_per_second: 1024 } });
    const client = await harness.openLive();
    client.say("x".repeat(1_000));
    client.say("x".repeat(1_000));
    expect(client.closed).toMatchObject({ code: 1008, reason: expect.stringContaining("live.bytes_per_second") });
    const patient = await harness.openLive();
    for (let second = 0; second < 5; second++) {
      patient.say("x".repeat(1_000));
      await harness.clock.pass(1_000);
    }
    expect(patient.closed).toBeUndefined();
  });

  test("turns in progress hold at most live.in_flight_mb of requests", async () => {
    await start({ live: { in_flight_mb: 0.002 } });
    harness.upstream.play(harness.upstream.stream(1_000, stream("responses")));
    const client = await harness.openLive();
    client.say(create({ stream_id: "a", input: "x".repeat(1_500) }));
    client.say(create({ stream_id: "b", input: "x".repeat(1_500) }));
    expect(await client.hears("error")).toMatchObject({ stream_id: "b", status: 429 });
    await client.hears("response.completed");
    client.say(create({ stream_id: "b", input: "x".repeat(1_500) }));
    await client.hears("response.completed", client.events.length);
  });

  test("a client that reads nothing stops the upstream, and is disconnected in the end", async () => {
    const long = "word ".repeat(30_000);
    harness.upstream.play(
      harness.upstream.openStream(stream("responses", [long, long]).split("response.output_text.done")[0] ?? "", 1_000),
    );
    const client = await harness.openLive();
    client.waitingBytes = 1024 * 1024;
    client.say(create());
    await client.hears("response.output_text.delta");
    await harness.clock.pass(100_000);
    expect(client.closed).toBeUndefined();
    await harness.clock.pass(300_000);
    expect(client.closed?.code).toBe(1006);
    expect(harness.leftovers()).toMatchObject({ runningCalls: 0, openUpstreams: 0, heldBytes: 0 });
  });

  test("a session holds no memory after it", async () => {
    harness.upstream.play(harness.upstream.stream(stream("responses")));
    const client = await harness.openLive();
    client.say(create());
    await client.hears("response.completed");
    await harness.clock.pass(1_000);
    expect(harness.leftovers()["heldBytes"]).toBeGreaterThan(0);
    client.leave();
    await harness.clock.pass(1_000);
    expect(harness.leftovers()).toEqual({
      runningCalls: 0,
      orphanedTexts: 0,
      orphanedImages: 0,
      heldBytes: 0,
      openUpstreams: 0,
    });
  });
});
