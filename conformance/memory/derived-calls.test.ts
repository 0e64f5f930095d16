import { afterEach, describe, expect, test } from "bun:test";
import { createProject, updateProject } from "../../src/access/projects.ts";
import { arrayAt, type JsonObject, parseObject, stringAt } from "../../src/base/json.ts";
import { makeMachine } from "../../testing/harness.ts";
import { realtime } from "../../testing/live/live-hosts.ts";
import { plainStream, plainUsage } from "../../testing/plain-answer.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { DerivedWorld, HOOK_URL, PARENT_KEY } from "../support/derived-world.ts";

/** What broke where a call that the gateway makes met another feature (choices 25). Every pair is in `derived-table.test.ts`. */

let world: DerivedWorld;
let isClean = true;
const start = async (more: JsonObject = {}) => {
  world = await DerivedWorld.start(more);
  isClean = true;
  return world;
};
afterEach(() => {
  if (isClean) expect(world.harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 });
});

const KEY = (more: JsonObject) => ({ keys: [{ name: "tests", key: TEST_KEY, ...more }] });
const JUDGE = { name: "judge", use: "moderation", model: "test/judge", action: "block", on: ["request"] };
const HOOK = { name: "hook", use: "webhook", url: HOOK_URL, action: "block", on: ["request"] };
const of = (receipts: readonly ReceiptData[], model: string) => receipts.filter((one) => one.model === model);
const outcomes = async () =>
  (await world.harness.storage.query("SELECT outcome FROM receipts ORDER BY id")).map((row) => row["outcome"]);
const guards = (...list: object[]) => ({ guards: list });
const outputOf = (text: string) => arrayAt(parseObject(text) ?? {}, "output");

describe("money and limits", () => {
  test("H73: an image belongs to the end user that the body names", async () => {
    await start(KEY({ end_users: { required: true, limits: { budget_usd_total: 1 } } }));
    const answer = await world.answer(world.images({ user: "u-1" }));
    expect([answer.status, answer.text.includes("aGk=")]).toEqual([200, true]);
    const receipts = await world.receipts();
    expect(receipts.map(({ end_user }) => end_user)).toEqual(["u-1", "u-1", "u-1"]);
    const { endUsers } = world.harness.gateway.admissions;
    expect(JSON.stringify([...endUsers.accounts()].map(({ id }) => id))).toContain("u-1");
  });

  test("H76: the questions of a guard count at the key that made the caller's", async () => {
    await start(guards(JUDGE));
    const key = await world.childOf();
    await world.answer(world.chat({}, {}, key));
    const receipts = await world.receipts();
    const { admissions, clock } = { ...world.harness.gateway };
    const parent = [...admissions.accounts()].find(
      ({ level, id }) => level === "key" && id !== receipts[0]?.id && id.includes("parent"),
    );
    expect(of(receipts, "test/judge")).toHaveLength(1);
    expect(parent?.meter.spent("requests", clock.wallMs())).toBe(receipts.length);
    expect(parent?.meter.spent("total", clock.wallMs())).toBe(
      receipts.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0),
    );
  });

  test("H73: parts of a response take no second request of a minute", async () => {
    for (const [send, more] of [
      [() => world.images(), {}],
      [() => world.fallbacks(), {}],
      [() => world.chat(), guards(JUDGE)],
    ] as const) {
      await start({ ...KEY({ limits: { requests_per_minute: 1 } }), ...more });
      const answer = await world.answer(send());
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain("rate");
      expect((await world.answer(world.chat())).status).toBe(429);
    }
  });

  test("H58: a batch goes to a provider's batch API only if no limit holds for each of its lines", async () => {
    const ofEach = { budget_usd_total: 1 };
    for (const [more, isNative] of [
      [{}, true],
      [{ limits: ofEach }, true],
      [{ limits_by_model: { "test/second": ofEach } }, true],
      [{ limits_by_model: { "test/*": ofEach } }, false],
      [{ limits_by_tag: { "team-*": ofEach } }, false],
      [{ end_users: { limits: ofEach } }, false],
    ] as const) {
      await start(KEY(more));
      const body = { model: "test/text", messages: [{ role: "user", content: "Hi" }], user: "u-1" };
      const { work, lines = [] } = await world.batch("chat", [body], { "x-trivium-tags": "team-a" });
      const [first] = lines;
      if (work === undefined || first === undefined) throw new Error("no batch");
      const prepared = await world.harness.clock.until(work.prepare(first, undefined, true));
      expect([more, "body" in prepared]).toEqual([more, isNative]);
    }
  });

  test("H58: an image whose model is over its limit is not made, and the response says so", async () => {
    for (const limits of [{ requests_per_minute: 1 }, { requests_per_day: 1 }, { budget_usd_total: 0.04 }]) {
      await start(KEY({ limits_by_model: { "test/painter": limits } }));
      const first = await world.answer(world.images());
      expect([first.status, first.text.includes("aGk=")]).toEqual([200, true]);
      const second = await world.answer(world.images());
      expect([second.status, second.text.includes("aGk="), second.text.includes("It is done.")]).toEqual([
        200,
        false,
        true,
      ]);
      expect(world.asked.filter((asked) => asked === "image")).toHaveLength(1);
    }
  });

  test("H73: what was made reaches the client when a later round is refused", async () => {
    await start(KEY({ limits: { budget_usd_total: 1 } }));
    const body = { max_output_tokens: 100 };
    world.takesMs.image = 1_000;
    const sent = world.images(body);
    await world.harness.clock.pass(500);
    // Other calls use up what is left.
    const { admissions, keys, clock } = world.harness.gateway;
    const principal = keys.authenticate(TEST_KEY, { address: "" });
    admissions.hold({ keyId: principal.keyId, project: principal.project }, 0)(990_000_000, clock.wallMs());
    const answer = await world.answer(sent);
    expect(answer.status).toBe(200);
    expect(outputOf(answer.text)).toContainEqual(expect.objectContaining({ status: "completed", result: "aGk=" }));
    expect(parseObject(answer.text)).toMatchObject({ status: "failed", error: { code: expect.any(String) } });
    expect(of(await world.receipts(), "test/painter")).toHaveLength(1);
  });
});

describe("what the request said that created the work", () => {
  const TERMS = { "x-trivium-user": "u-1", "x-trivium-tags": "team-a", "x-trivium-require": "region=eu" };
  const BODIES = {
    chat: { model: "test/text", messages: [{ role: "user", content: "Hi" }] },
    messages: { model: "test/text", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
    genai: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
  };

  test.each(["chat", "messages", "genai"] as const)(
    "H73: the headers of a %s batch hold for its lines",
    async (form) => {
      await start(KEY({ end_users: { required: true, limits: { budget_usd_total: 1 } } }));
      const { work, lines = [] } = await world.batch(form, [BODIES[form]], TERMS);
      const [line] = lines;
      if (work === undefined || line === undefined) throw new Error("no batch");
      const outcome = await world.harness.clock.until(work.run(line, () => {}));
      if (typeof outcome === "string" || !("receipts" in outcome)) throw new Error(JSON.stringify(outcome));
      expect(outcome.status).toBe(200);
      const [receipt] = outcome.receipts;
      expect(receipt).toMatchObject({ endUser: "u-1", tags: ["team-a"], provider: "eu" });
      expect(receipt?.require).toEqual([{ trait: "region", value: "eu" }]);
    },
  );

  test("H73: strictness and routing of a batch hold for its lines", async () => {
    await start();
    const routing = '{"provider":{"providers":["us"]}}';
    const odd = { ...BODIES.messages, top_k: 3 };
    const headers = { "x-trivium-routing": routing, "x-trivium-strict": "true" };
    const { work, lines = [] } = await world.batch("messages", [BODIES.messages, odd], headers);
    const outcomes = [];
    for (const line of lines) outcomes.push(work && (await world.harness.clock.until(work.run(line, () => {}))));
    expect(outcomes).toMatchObject([{ status: 200, receipts: [{ provider: "us" }] }, { status: 400 }]);
  });

  test("H73: the end user of a token holds for its batches, whatever a line says", async () => {
    await start();
    const key = await world.token();
    const body = { ...BODIES.chat, user: "u-mallory" };
    const { work, lines = [] } = await world.batch("chat", [body], {}, key);
    const [line] = lines;
    if (work === undefined || line === undefined) throw new Error("no batch");
    expect(await world.harness.clock.until(work.run(line, () => {}))).toMatchObject({
      receipts: [{ endUser: "u-token" }],
    });
  });

  const secretOf = async (headers: Record<string, string>, key = TEST_KEY) => {
    const body = { session: { type: "realtime", model: "test/realtime" } };
    const made = await world.answer(world.harness.sendPost("/v1/realtime/client_secrets", body, key, headers));
    return { status: made.status, text: made.text, value: stringAt(parseObject(made.text), "value") ?? "" };
  };
  const speak = async (key: string, headers: Record<string, string> = {}) => {
    const client = await world.harness.openLive("/v1/realtime?model=test/realtime", { key, headers });
    await client.hears("session.created");
    client.say({ type: "response.create" });
    await world.harness.clock.pass(10);
    world.harness.sockets.host.say(realtime.began("resp_1"), realtime.text("resp_1", "Hi"), realtime.done("resp_1"));
    await client.hears("response.done");
    client.leave();
    await world.harness.clock.pass(10_000);
  };
  const turn = async (key: string, headers: Record<string, string> = {}) => {
    await speak(key, headers);
    return (await world.receipts()).at(-1);
  };

  test("H73: a client secret keeps the end user and the tags of the request that made it", async () => {
    await start(KEY({ end_users: { required: true, limits: { budget_usd_total: 1 } } }));
    expect((await secretOf({})).text).toContain("end_user_required");
    const { value } = await secretOf({ "x-trivium-user": "u-1", "x-trivium-tags": "team-a" });
    expect(await turn(value, { "x-trivium-user": "u-mallory" })).toMatchObject({ end_user: "u-1", tags: ["team-a"] });
  });

  test("H73: a client secret keeps the end user of a token", async () => {
    await start();
    const { value } = await secretOf({}, await world.token());
    expect(await turn(value)).toMatchObject({ end_user: "u-token" });
  });

  test("H73: work of a subject with two projects is billed to the project of the token that created it", async () => {
    const machine = await makeMachine();
    world = await DerivedWorld.start({}, machine, undefined, { project_claim: "team" });
    const sources = { clock: machine.clock, random: machine.random };
    for (const id of ["red", "blue"]) await createProject(machine.storage, { id }, sources, { who: "test" });
    await world.harness.gateway.keys.refresh();
    const iat = Math.floor(machine.clock.wallMs() / 1000) - 100;
    const red = await world.token({ team: "red", iat });
    await world.answer(world.chat({}, {}, red));
    const { value } = await secretOf({}, red);
    const { work, lines = [] } = await world.batch(
      "chat",
      [{ model: "test/text", messages: [{ role: "user", content: "Hi" }] }],
      {},
      red,
    );
    const [line] = lines;
    if (work === undefined || line === undefined) throw new Error("no batch");
    // Its youngest token is for another project.
    await world.answer(world.chat({}, {}, await world.token({ team: "blue", iat: iat + 50 })));
    const projects = async () =>
      (await machine.storage.query("SELECT project FROM receipts ORDER BY id")).map((row) => row["project"]);
    expect(await projects()).toEqual(["red", "blue"]);
    expect(await world.harness.clock.until(work.run(line, () => {}))).toMatchObject({ receipts: [{ project: "red" }] });
    await speak(value);
    expect(await projects()).toEqual(["red", "blue", "red"]);
    const { keys } = world.harness.gateway;
    // Another process has seen none of its tokens.
    await keys.tokens.writeUsed();
    const other = await DerivedWorld.start({}, machine, undefined, { project_claim: "team" });
    const payer = { keyId: String(line.batch.keyId), project: "red" };
    expect(await other.harness.gateway.keys.recall(payer)).toMatchObject({ project: "red" });
    await updateProject(machine.storage, "red", { status: "suspended" }, sources, { who: "test" });
    await keys.refresh();
    expect(keys.current(payer)).toBeUndefined();
    expect(keys.current({ ...payer, project: "blue" })).toMatchObject({ project: "blue" });
  });

  test("H73: a deadline that cannot hold is refused when the work is created", async () => {
    await start();
    const headers = { "x-trivium-deadline-ms": "1000" };
    for (const form of ["chat", "messages", "genai"] as const) {
      const { made } = await world.batch(form, [BODIES[form]], headers);
      expect([made.status, made.text.includes("x-trivium-deadline-ms")]).toEqual([400, true]);
    }
    expect((await secretOf(headers)).status).toBe(400);
    const opening = world.harness.openLive("/v1/realtime?model=test/realtime", { headers });
    expect(opening).rejects.toThrow(/^400 .*x-trivium-deadline-ms/);
    await world.harness.clock.pass(10);
  });
});

describe("guards", () => {
  test("H74: a caller with one slot and required end users is checked, not refused", async () => {
    for (const limits of [{ limits: { concurrent: 1 } }, { end_users: { required: true } }]) {
      await start({ ...KEY(limits), ...guards(JUDGE) });
      const answer = await world.answer(world.chat({ user: "u-1" }));
      expect(answer.status).toBe(200);
      expect(of(await world.receipts(), "test/judge").map(({ end_user }) => end_user)).toEqual(["u-1"]);
    }
  });

  test("H76: a guard for a key looks at the calls of the keys that it has made", async () => {
    await start(
      guards({ name: "words", use: "words", words: ["forbidden"], action: "block", for: { keys: ["parent"] } }),
    );
    const forbidden = { messages: [{ role: "user", content: "forbidden" }] };
    expect((await world.answer(world.chat(forbidden, {}, PARENT_KEY))).status).toBe(400);
    expect((await world.answer(world.chat(forbidden, {}, await world.childOf()))).status).toBe(400);
    expect((await world.answer(world.chat(forbidden))).status).toBe(200);
  });

  const FORBIDDEN = { messages: [{ role: "user", content: "forbidden" }] };

  test.each([
    ["a slot", {}, { limits: { concurrent: 1 } }],
    ["a requirement", { "x-trivium-require": "region=eu" }, {}],
    ["a requirement of the key", {}, { routing: { require: { region: "eu" } } }],
    ["a budget", {}, { limits: { requests_per_minute: 1 } }],
    ["a limit on tokens", {}, { limits: { tokens_per_minute: 20 } }],
    ["a protocol", {}, { protocols: ["chat"] }],
  ])("H74: %s does not turn a guard off that lets pass what it cannot check", async (_what, headers, key) => {
    await start({ ...KEY(key), ...guards({ ...JUDGE, on_failure: "allow" }) });
    const answer = await world.answer(world.chat({ ...FORBIDDEN, max_tokens: 10 }, headers));
    expect([answer.status, answer.text.includes("violence")]).toEqual([400, true]);
  });

  test.each(["block", "allow"])(
    "H74: failures in one project leave the guard of another alone (%s)",
    async (on_failure) => {
      const keys = [
        { name: "tests", key: TEST_KEY },
        { name: "other", key: PARENT_KEY, project: "other" },
      ];
      await start({ keys, ...guards({ ...JUDGE, on_failure }) });
      world.instead = (asked) => (asked === "judge" ? { status: 500, body: {} } : undefined);
      for (let at = 0; at < 8; at++) await world.answer(world.chat(FORBIDDEN));
      world.instead = () => undefined;
      const answer = await world.answer(world.chat(FORBIDDEN, {}, PARENT_KEY));
      expect([answer.status, answer.text.includes("violence")]).toEqual([400, true]);
      expect((await world.answer(world.chat({}, {}, PARENT_KEY))).status).toBe(200);
    },
  );

  test("H74: a text that the moderation model refuses is asked about in parts", async () => {
    await start(guards({ ...JUDGE, on_failure: "allow" }));
    world.instead = (asked, { body }) =>
      asked === "judge" && body.length > 5_000 ? { status: 400, body: { error: { message: "too long" } } } : undefined;
    const long = "harmless ".repeat(2_000);
    const chat = (content: string) => world.answer(world.chat({ messages: [{ role: "user", content }] }));
    expect((await chat(long)).status).toBe(200);
    const refused = await chat(`${long} forbidden ${long}`);
    expect([refused.status, refused.text.includes("violence")]).toEqual([400, true]);
  });

  test.each([
    ["block", 400, "blocked"],
    ["redact", 200, "redacted"],
    ["observe", 200, "unreadable"],
  ])("H74: a text that no part of can be read is a match (%s)", async (action, status, verdict) => {
    await start(guards({ ...JUDGE, action, on_failure: "allow" }));
    world.instead = (asked) => (asked === "judge" ? { status: 400, body: {} } : undefined);
    const answer = await world.answer(world.chat(FORBIDDEN));
    expect(answer.status).toBe(status);
    const [receipt] = of(await world.receipts(), "test/text");
    expect(receipt?.guards).toMatchObject([{ verdict, reason: expect.stringContaining("unreadable") }]);
  });

  test("H74: texts that are too large for a webhook are a match", async () => {
    await start(guards({ ...HOOK, on_failure: "allow" }));
    world.instead = (asked) => (asked === "hook" ? { status: 413, body: {} } : undefined);
    expect((await world.answer(world.chat(FORBIDDEN))).status).toBe(400);
  });

  test("H74: lines of a batch are checked whatever limits their key has", async () => {
    for (const limits of [{ limits: { concurrent: 1 } }, { end_users: { required: true } }]) {
      await start({ ...KEY(limits), ...guards(JUDGE) });
      const body = { model: "test/text", user: "u-1", messages: [{ role: "user", content: "Hi" }] };
      const { work, lines = [] } = await world.batch("chat", [body]);
      const [line] = lines;
      if (work === undefined || line === undefined) throw new Error("no batch");
      expect(await world.harness.clock.until(work.run(line, () => {}))).toMatchObject({ status: 200 });
    }
  });

  test("H74: a stream does not hold the slot that its own guard waits for", async () => {
    const { guards: list } = guards({ ...JUDGE, on: ["response"] });
    const single = {
      kind: "openai",
      base_url: "http://upstream.localhost/us/v1",
      api_key: "upstream-secret",
      max_concurrent: 1,
    };
    await start({
      providers: { us: single },
      models: [
        { id: "test/text", pricings: {}, offers: [{ provider: "us", model: "gpt-4o", dialect: "chat" }] },
        {
          id: "test/judge",
          output_modalities: ["moderation"],
          pricings: {},
          offers: [{ provider: "us", model: "omni" }],
        },
      ],
      guards: list,
    });
    const answer = await world.answer(world.chat({ stream: true }));
    expect(answer.text).toEndWith(wire.done);
    expect(answer.endMs).toBe(0);
  });

  test("H57: a fallback model's guards look at the request, named by the client or the key", async () => {
    const words = {
      name: "codename",
      use: "words",
      words: ["codename"],
      action: "redact",
      for: { models: ["test/second"] },
    };
    for (const [key, body] of [
      [{}, { provider: { fallback: "test/second" } }],
      [{ routing: { fallback: "test/second" } }, {}],
    ] as const) {
      await start({ ...KEY(key), ...guards(words) });
      let calls = 0;
      world.instead = (asked) => (asked === "text" && ++calls < 5 ? { status: 500, body: {} } : undefined);
      await world.answer(world.chat({ ...body, messages: [{ role: "user", content: "the codename" }] }));
      const { requests } = world.harness.upstream;
      expect(requests.length).toBeGreaterThan(2);
      for (const { body: sent } of requests) expect(sent).not.toContain("codename");
    }
  });

  test("H57: a block by the operator ends a chain of models that may decline", async () => {
    for (const stream of [false, true]) {
      await start(guards({ name: "words", use: "words", words: ["bomb"], action: "block", on: ["response"] }));
      const usage = plainUsage("chat", 10, 20);
      const { upstream } = world.harness;
      world.instead = (asked) =>
        asked === "text" ? upstream.stream(plainStream("chat", ["a ", "bomb"], usage)) : undefined;
      const messages = [{ role: "user", content: "Hello" }];
      const body = { model: "test/text", max_tokens: 100, messages, stream, fallbacks: [{ model: "test/second" }] };
      if (!stream)
        world.instead = () => ({
          body: { choices: [{ index: 0, message: { content: "a bomb" }, finish_reason: "stop" }], usage },
        });
      const answer = await world.answer(
        world.harness.sendPost("/v1/messages", body, TEST_KEY, {
          "anthropic-version": "2023-06-01",
          "anthropic-beta": "server-side-fallback-2026-07-01",
        }),
      );
      expect(answer.text).toContain("refusal");
      expect((await world.receipts()).map(({ model }) => model)).toEqual(["test/text"]);
    }
  });

  test("H57: a guard that is added ends a spoken session", async () => {
    await start();
    const client = await world.harness.openLive("/v1/realtime?model=test/realtime");
    await client.hears("session.created");
    await world.reload(guards({ name: "no-secrets", use: "secrets", action: "redact" }));
    client.say({ type: "response.create" });
    await world.harness.clock.pass(10);
    expect(JSON.stringify(client.events)).toContain("no-secrets");
    client.leave();
    await world.harness.clock.pass(10_000);
    expect(world.harness.sockets.host.ofType("response.create")).toEqual([]);
  });

  test("H75: what is kept of a line at a provider's batch API is what was sent", async () => {
    const people = { name: "people", use: "pii", action: "redact" };
    await start({ ...KEY({ capture: true }), ...guards(people) });
    const body = { model: "test/text", messages: [{ role: "user", content: "mail alice.b@example.com" }] };
    const { work, lines = [] } = await world.batch("chat", [body]);
    const [line] = lines;
    if (work === undefined || line === undefined) throw new Error("no batch");
    const prepared = await work.prepare(line, undefined);
    if (!("body" in prepared)) throw new Error(JSON.stringify(prepared));
    expect(prepared.body).toContain("[redacted:email]");
    const response = {
      status: 200,
      body: JSON.stringify({
        choices: [{ index: 0, message: { content: "Fine." }, finish_reason: "stop" }],
        usage: plainUsage("chat", 1, 2),
      }),
    };
    const sent = { ...line, sent: (prepared as { left?: string }).left };
    const result = await world.harness.clock.until(work.settle(sent, prepared.target, response));
    const { gateway } = world.harness;
    await world.harness.clock.until(gateway.captures.close());
    const kept = JSON.stringify(await gateway.captures.read(result.receipts[0]?.id ?? ""));
    expect(kept).toContain("[redacted:email]");
    expect(kept).not.toContain("alice");
  });

  test("H57: a guard is asked once about a line that a provider's batch API runs", async () => {
    await start(guards(HOOK));
    const body = { model: "test/text", messages: [{ role: "user", content: "Hi" }] };
    const { work, lines = [] } = await world.batch("chat", [body]);
    const [line] = lines;
    if (work === undefined || line === undefined) throw new Error("no batch");
    const { clock } = world.harness;
    const chosen = await clock.until(work.prepare(line, undefined, true));
    const prepared = await clock.until(work.prepare(line, "target" in chosen ? chosen.target : undefined));
    expect("body" in prepared && world.asked).toEqual(["hook"]);
  });

  test("H57: the deadline runs while a guard is asked", async () => {
    for (const guard of [JUDGE, HOOK]) {
      for (const on of [["request"], ["response"]]) {
        await start(guards({ ...guard, on, timeout_ms: 5_000 }));
        world.takesMs.judge = 3_000;
        world.takesMs.hook = 3_000;
        const answer = await world.answer(world.chat({}, { "x-trivium-deadline-ms": "300" }));
        expect([answer.status, answer.endMs]).toEqual([504, 300]);
        await world.harness.clock.pass(20_000);
      }
    }
  });

  test("H57: a call that is being checked is listed, and can be stopped", async () => {
    for (const guard of [JUDGE, HOOK]) {
      for (const on of [["request"], ["response"]]) {
        for (const on_failure of ["block", "allow"]) {
          for (const which of ["test/text", "last"]) {
            await start(guards({ ...guard, on, on_failure, timeout_ms: 20_000 }));
            world.takesMs.judge = 10_000;
            world.takesMs.hook = 10_000;
            const sent = world.chat(FORBIDDEN);
            await world.harness.clock.pass(1_000);
            const listed = world.running().find(({ model }) => model.id === "test/text");
            expect(listed?.model.id).toBe("test/text");
            world.stop(which === "last" ? undefined : listed?.receiptId);
            const answer = await world.answer(sent);
            expect([answer.status, answer.endMs]).toEqual([503, 1_000]);
            expect(await outcomes()).toContain("stopped");
            await world.harness.clock.pass(20_000);
          }
        }
      }
    }
  });

  test("H57: a guard's question ends with its client, and has the tags and the trace of the call", async () => {
    await start(guards({ ...JUDGE, timeout_ms: 20_000 }));
    world.takesMs.judge = 10_000;
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const headers = { "x-trivium-tags": "team-a", traceparent: `00-${trace}-b7ad6b7169203331-01` };
    const sent = world.chat({}, headers);
    await world.harness.clock.pass(1_000);
    sent.disconnect();
    await world.harness.clock.pass(2_000);
    expect(world.running()).toEqual([]);
    expect(world.harness.upstream.open).toBe(0);
    const [judge] = of(await world.receipts(), "test/judge");
    expect(judge).toMatchObject({ tags: ["team-a"], trace_id: trace });
    await world.harness.clock.pass(20_000);
  });

  test("H57: an observing guard counts what it saw before a stream broke, and what the break cut in two", async () => {
    await start(guards({ name: "people", use: "pii", action: "observe", on: ["response"] }));
    const { upstream } = world.harness;
    const [first, second] = ["mail alice.b@example.com and bob.c@exam", "ple.org for more of this story. "];
    world.instead = (asked, _request, number) => {
      if (asked !== "text") return undefined;
      return number === 1
        ? upstream.brokenStream(wire.chatChunk({ role: "assistant", content: first }), 50)
        : upstream.stream(
            wire.chatChunk({ content: second }),
            wire.chatChunk({}, "stop"),
            wire.chatUsage(plainUsage("chat", 1, 2)),
            wire.done,
          );
    };
    const answer = await world.answer(world.chat({ stream: true }, { "x-trivium-survive": "true" }));
    expect(answer.text).toEndWith(wire.done);
    const [receipt] = await world.receipts();
    expect(receipt?.continued).toHaveLength(1);
    expect(receipt?.guards).toMatchObject([{ on: "response", verdict: "observed", count: 2 }]);
  });

  test("H57: each guard sees a text of a request once, however many calls it leads to", async () => {
    await start(guards(HOOK));
    for (const sent of [() => world.images(), () => world.fallbacks()]) {
      world.harness.upstream.requests.length = 0;
      await world.answer(sent());
      const shown = world.harness.upstream.requests
        .filter(({ url }) => url === HOOK_URL)
        .flatMap(({ body }) => [
          ...new Set(arrayAt(parseObject(body) ?? {}, "texts").map((one) => stringAt(one, "text"))),
        ]);
      expect(shown.filter((text, at) => shown.indexOf(text) !== at)).toEqual([]);
    }
  });
});

describe("endings", () => {
  test("H73: every call of a response has what is left of its deadline", async () => {
    for (const [body, headers] of [
      [{}, { "x-trivium-deadline-ms": "1000" }],
      [{ trivium: { deadline_ms: 1_000 } }, {}],
    ] as [JsonObject, Record<string, string>][]) {
      await start();
      world.takesMs.text = 700;
      world.takesMs.image = 700;
      const images = await world.answer(world.images(body, headers));
      expect([images.status, images.endMs]).toEqual([504, 1_000]);
      world.asked.length = 0;
      const declined = await world.answer(world.fallbacks(body, headers));
      expect([declined.status, declined.endMs]).toEqual([504, 1_000]);
      await world.harness.clock.pass(10_000);
      expect(world.asked).toEqual(["text", "text"]);
    }
  });

  test("H73: what an operator stops is over, and no model is asked again", async () => {
    for (const send of [() => world.images(), () => world.images({ stream: true }), () => world.fallbacks()]) {
      await start();
      const sent = send();
      const second = send.toString().includes("fallbacks") ? "text" : "image";
      const { instead } = world;
      world.instead = (asked, request, number) =>
        asked === second && number === (second === "text" ? 2 : 1) ? "nothing" : instead(asked, request, number);
      await world.harness.clock.pass(1_000);
      world.stop(undefined);
      const answer = await world.answer(sent);
      if (answer.status === 200) expect(answer.text).toContain("response.failed");
      else expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(answer.text).toContain("stopped this call");
      expect((await outcomes()).at(-1)).toBe("stopped");
      expect(world.asked.length).toBe(2);
      await world.harness.clock.pass(10_000);
    }
  });

  test("H73: a routing of the request holds for an image as far as providers offer its model", async () => {
    await start();
    const other = { kind: "openai", base_url: "http://upstream.localhost/other/v1", api_key: "upstream-secret" };
    const offers = [{ provider: "other", model: "gpt-4o", dialect: "chat" }];
    await start({
      providers: { other, us: { ...other, base_url: "http://upstream.localhost/us/v1" } },
      models: [
        { id: "test/text", pricings: {}, offers },
        {
          id: "test/painter",
          output_modalities: ["image"],
          pricings: {},
          offers: [{ provider: "us", model: "gpt-image-1" }],
        },
      ],
    });
    const answer = await world.answer(
      world.images({}, { "x-trivium-routing": '{"provider":{"providers":["other"]}}' }),
    );
    expect(answer.text).toContain("aGk=");
  });

  test("H73: images are made in the background", async () => {
    await start();
    const queued = await world.answer(world.images({ background: true, store: true }));
    const id = stringAt(parseObject(queued.text), "id");
    await world.harness.clock.pass(1_000);
    const answer = await world.harness.get(`/v1/responses/${id}`, { authorization: `Bearer ${TEST_KEY}` });
    expect(parseObject(answer.text)).toMatchObject({ id, status: "completed" });
    expect(answer.text).toContain("aGk=");
    expect((await world.receipts()).map(({ model }) => model).sort()).toEqual([
      "test/painter",
      "test/text",
      "test/text",
    ]);
  });

  test("H73: a reload does not change a response that is being made", async () => {
    for (const more of [
      guards({ name: "words", use: "words", words: ["horse"], action: "block" }),
      { models: [{ id: "test/second", pricings: {}, offers: [{ provider: "us", model: "gpt-4o", dialect: "chat" }] }] },
    ]) {
      await start();
      world.takesMs.image = 1_000;
      const sent = world.images();
      await world.harness.clock.pass(500);
      const { harness } = world;
      const other = await DerivedWorld.start(more);
      harness.gateway.snapshot = other.harness.gateway.snapshot;
      const answer = await harness.clock.until(sent.answer);
      expect([answer.status, answer.text.includes("aGk="), answer.text.includes("It is done.")]).toEqual([
        200,
        true,
        true,
      ]);
    }
  });

  test("H73: a stream of images ends when its first round breaks", async () => {
    await start();
    const { upstream } = world.harness;
    world.instead = (asked) =>
      asked === "text" ? upstream.brokenStream(wire.chatChunk({ role: "assistant", content: "Once" }), 10) : undefined;
    const sent = world.images({ stream: true });
    let ended = false;
    void sent.answer.then(() => {
      ended = true;
    });
    await world.harness.clock.pass(60_000);
    expect([sent.text.includes("response.failed"), ended]).toEqual([true, true]);
  });

  test("H73: no timer is left when a stream of several calls has ended", async () => {
    await start();
    world.takesMs.image = 1_000;
    await world.answer(world.images({ stream: true }));
    const before = world.harness.clock.timers;
    await start();
    await world.answer(world.chat({ stream: true }));
    expect(before).toBe(world.harness.clock.timers);
  });
});

describe("receipts", () => {
  const HEDGED = { "x-trivium-hedge": "true" };

  test("H14: a hedged stream that breaks and continues says which offer did what", async () => {
    await start();
    const { upstream } = world.harness;
    world.instead = (asked, _request, number) => {
      if (asked !== "text") return undefined;
      if (number === 1) return upstream.openStream();
      if (number === 2)
        return upstream.brokenStream(
          wire.chatChunk({ role: "assistant", content: "Once upon a time there was a ho" }),
          50,
        );
      return upstream.stream(
        wire.chatChunk({ content: "rse that could run for days and days. " }),
        wire.chatChunk({}, "stop"),
        wire.chatUsage(plainUsage("chat", 1, 2)),
        wire.done,
      );
    };
    await world.answer(world.chat({ stream: true }, { ...HEDGED, "x-trivium-survive": "true" }));
    const [receipt] = await world.receipts();
    expect(receipt?.continued).toHaveLength(1);
    const { requests } = upstream;
    const hosts = requests.map(({ url }) => (url.includes("/eu/") ? "eu" : "us"));
    const offers = receipt?.offers.map(({ provider, outcome }) => [provider, outcome]) ?? [];
    expect(offers).toContainEqual([hosts[0] ?? "", "abandoned"]);
    expect(offers).toContainEqual([hosts[1] ?? "", "failed"]);
    expect(offers.filter(([, outcome]) => outcome === "answered")).toHaveLength(1);
  });

  test.each([false, true])("H14: the cost in a hedged response is that of its receipt (stream: %s)", async (stream) => {
    await start();
    world.instead = (asked, _request, number) => (asked === "text" && number === 1 ? "nothing" : undefined);
    const usage = { usage: { include: true }, ...(stream ? { stream, stream_options: { include_usage: true } } : {}) };
    const answer = await world.answer(world.chat({ ...usage, max_tokens: 100 }, HEDGED));
    const [receipt] = await world.receipts();
    expect(receipt?.hedged).toBe(true);
    const cost = /"cost":([\d.e-]+)/.exec(answer.text)?.[1];
    expect(Number(cost)).toBeCloseTo(receipt?.cost_usd ?? 0, 9);
  });

  test("H57: a hedged response is stored for equal requests", async () => {
    await start(KEY({ cache: { ttl_seconds: 600, max_mb: 10 } }));
    world.instead = (asked, _request, number) => (asked === "text" && number === 1 ? "nothing" : undefined);
    await world.answer(world.chat({}, HEDGED));
    await world.harness.clock.pass(1_000);
    const again = await world.answer(world.chat({}, HEDGED));
    expect(again.headers.get("x-trivium-cached")).not.toBeNull();
  });

  test("H29: a line of a batch whose process was killed is announced with its batch", async () => {
    await start({ ledger: { intents: true } });
    world.takesMs.text = 1_000;
    const body = { model: "test/text", messages: [{ role: "user", content: "Hi" }] };
    const { work, lines = [] } = await world.batch("chat", [body]);
    const [line] = lines;
    if (work === undefined || line === undefined) throw new Error("no batch");
    const running = work.run(line, () => {});
    await world.harness.clock.pass(500);
    const [intent] = await world.harness.storage.query("SELECT * FROM intents");
    expect(parseObject(String(intent?.["batch"]))).toMatchObject({ line: 1, customId: "line-1" });
    const announced = await world.harness.receiptOf(String(intent?.["id"]));
    expect(announced.batch).toMatchObject({ line: 1, custom_id: "line-1" });
    await world.harness.clock.until(running);
  });
});
