import { describe, expect, test } from "bun:test";
import { Harness, type HarnessOptions, makeMachine, UPSTREAM_URL } from "../../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../../testing/scripted-models.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";
import type { DialectName } from "../../canon/dialect-name.ts";
import type { CapturedBodies, CapturedBody } from "../../capture/captured-bodies.ts";
import type { Storage } from "../../storage/storage.ts";

const CAPTURED_KEY = "a-key-whose-bodies-are-kept";
const DIALECTS: readonly DialectName[] = ["chat", "messages", "genai", "responses"];

const configOf = (capture: object = {}): Record<string, unknown> => ({
  ...modelsOfEveryDialect(UPSTREAM_URL),
  capture,
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "captured", project: "red", key: CAPTURED_KEY, capture: true },
  ],
});

const start = (options: HarnessOptions = {}) => Harness.start({ config: configOf(), ...options });
const captured = { key: CAPTURED_KEY };

/** What is stored, by the receipt. */
async function stored({ gateway, clock, storage }: Harness): Promise<Map<string, CapturedBodies>> {
  await clock.until(gateway.captures.close());
  const found = new Map<string, CapturedBodies>();
  for (const row of await storage.query("SELECT receipt_id FROM captures")) {
    const capture = await gateway.captures.read(String(row["receipt_id"]));
    if (capture !== undefined) found.set(capture.receiptId, capture.bodies);
  }
  return found;
}

async function only(harness: Harness): Promise<CapturedBodies> {
  const all = [...(await stored(harness)).values()];
  expect(all).toHaveLength(1);
  return all[0] as CapturedBodies;
}

const whole = (text: string): CapturedBody => ({ text, bytes: Buffer.byteLength(text), cut: false });

describe("0064: bodies are kept for keys that say so", () => {
  for (const dialect of DIALECTS) {
    for (const upstream of DIALECTS) {
      const model = `test/${upstream}`;

      test(`${dialect} at ${upstream}, whole: all four, as they were sent`, async () => {
        const harness = await start();
        const said = JSON.stringify(
          plainAnswer(upstream, { text: "Good 日", usage: plainUsage(upstream, 3, 4) }),
          null,
          1,
        );
        harness.upstream.play(harness.upstream.stream(said));
        const answer = await harness.call(dialect, { model, ...captured });
        expect(answer.status).toBe(200);
        const bodies = await only(harness);
        expect(bodies.client_request?.text).toContain("hello");
        expect(bodies.provider_request).toEqual(whole(String(harness.upstream.requests[0]?.body)));
        expect(bodies.provider_answer).toEqual(whole(said));
        expect(bodies.client_answer).toEqual(whole(answer.text));
        expect([...(await stored(harness)).keys()]).toEqual([answer.headers.get("x-trivium-receipt") ?? ""]);
      });

      test(`${dialect} at ${upstream}, streamed: the events of both sides`, async () => {
        const harness = await start();
        const said = plainStream(upstream, ["Good ", "日"], plainUsage(upstream, 3, 4));
        const type = { "content-type": "text/event-stream" };
        harness.upstream.play(async (reply) => {
          reply.head(200, type);
          await reply.write(said.slice(0, said.length / 2));
          await harness.clock.sleep(20);
          await reply.write(said.slice(said.length / 2));
          reply.end();
        });
        const answer = await harness.call(dialect, { model, stream: true, ...captured });
        expect(answer.status).toBe(200);
        const bodies = await only(harness);
        expect(bodies.provider_request).toEqual(whole(String(harness.upstream.requests[0]?.body)));
        expect(bodies.provider_answer?.text).toBe(said);
        expect(bodies.client_answer).toEqual(whole(answer.text));
      });
    }

    test(`${dialect}: a call of another key stores nothing, whole or streamed`, async () => {
      const harness = await start();
      const { upstream } = harness;
      const usage = plainUsage(dialect, 3, 4);
      upstream.play(
        upstream.json(plainAnswer(dialect, { text: "ok", usage })),
        upstream.stream(plainStream(dialect, ["a", "b"], usage)),
      );
      expect((await harness.call(dialect)).status).toBe(200);
      expect((await harness.call(dialect, { stream: true })).status).toBe(200);
      await harness.clock.pass(60_000);
      expect(await harness.storage.query("SELECT * FROM captures")).toEqual([]);
      expect(await harness.receipts()).toHaveLength(2);
    });

    test(`${dialect}: a provider's error is captured together with the client's error`, async () => {
      const harness = await start();
      harness.upstream.play(harness.upstream.json({ error: { message: "upstream-secret-chat is not it" } }, 400));
      const answer = await harness.call(dialect, { model: "test/chat", ...captured });
      expect(answer.status).toBe(400);
      const bodies = await only(harness);
      expect(bodies.client_answer).toEqual(whole(answer.text));
      expect(bodies.provider_answer?.text).toBe('{"error":{"message":"[secret] is not it"}}');
    });
  }

  test("a request that is rejected before there is a receipt is not kept", async () => {
    const harness = await start();
    expect((await harness.call("chat", { ...captured, body: { messages: 1 } })).status).toBe(400);
    await harness.clock.pass(60_000);
    expect(await stored(harness)).toEqual(new Map());
  });

  test("an unreachable provider: the request to be sent, and the client's error", async () => {
    const harness = await start();
    harness.upstream.play((reply) => reply.fail("broken"));
    const answer = await harness.call("chat", captured);
    expect(answer.status).toBeGreaterThanOrEqual(500);
    const bodies = await only(harness);
    expect(bodies.provider_request?.text).toContain("hello");
    expect(bodies.provider_answer).toBeNull();
    expect(bodies.client_answer).toEqual(whole(answer.text));
  });

  test("after a retry, the last attempt is kept", async () => {
    const harness = await start();
    const { upstream } = harness;
    const said = JSON.stringify(plainAnswer("chat", { text: "second", usage: plainUsage("chat", 1, 1) }));
    upstream.play(upstream.json({ error: { message: "busy" } }, 503), upstream.stream(said));
    expect((await harness.call("chat", captured)).status).toBe(200);
    expect((await only(harness)).provider_answer).toEqual(whole(said));
  });

  test("a client that leaves: what it received until then, and the provider's response", async () => {
    const harness = await start();
    const { upstream, clock } = harness;
    const said = plainStream("chat", ["Good ", "day"], plainUsage("chat", 3, 4));
    const [first = "", ...rest] = said.split(/(?<=\n\n)/);
    upstream.play(upstream.stream(first, 500, rest.join("")));
    const sent = harness.send("chat", { stream: true, ...captured });
    sent.answer.catch(() => {});
    await clock.pass(200);
    sent.disconnect();
    await clock.pass(20_000);
    const bodies = await only(harness);
    expect(bodies.client_answer?.text).toContain("Good ");
    expect(bodies.client_answer?.text).not.toContain("day");
    expect(bodies.provider_answer?.text).toContain("day");
  });

  test("a background response: its final form, whole or streamed", async () => {
    for (const stream of [false, true]) {
      const harness = await start();
      const { upstream } = harness;
      const usage = plainUsage("responses", 3, 4);
      const said = stream
        ? plainStream("responses", ["Good ", "day"], usage)
        : JSON.stringify(plainAnswer("responses", { text: "Good day", usage }));
      upstream.play(upstream.stream(said));
      const answer = await harness.call("responses", { ...captured, stream, body: { background: true, store: true } });
      expect(answer.status).toBe(200);
      await harness.clock.pass(10_000);
      const bodies = await only(harness);
      expect(bodies.client_request?.text).toContain('"background":true');
      expect(bodies.provider_answer?.text).toContain("Good ");
      expect(bodies.client_answer?.text).toContain("Good ");
    }
  });

  test("a request that builds on a stored response: as the client sent it, without the inserted items", async () => {
    const harness = await start();
    const { upstream } = harness;
    upstream.play(upstream.json(plainAnswer("responses", { text: "first", usage: plainUsage("responses", 1, 1) })));
    const first = await harness.call("responses", captured);
    const previous_response_id = (JSON.parse(first.text) as { id: string }).id;
    const second = await harness.call("responses", { ...captured, body: { input: "go on", previous_response_id } });
    const bodies = (await stored(harness)).get(second.headers.get("x-trivium-receipt") ?? "");
    expect(bodies?.client_request?.text).toContain(previous_response_id);
    expect(bodies?.client_request?.text).not.toContain("first");
    expect(bodies?.provider_request?.text).toContain("first");
  });

  test("counting tokens: the request and the count", async () => {
    const harness = await start();
    const body = { model: "test/messages", messages: [{ role: "user", content: "hello" }] };
    harness.upstream.play(harness.upstream.json({ input_tokens: 7 }));
    const sent = harness.sendPost("/v1/messages/count_tokens", body, CAPTURED_KEY, {
      "anthropic-version": "2023-06-01",
    });
    const answer = await harness.clock.until(sent.answer);
    expect(answer.status).toBe(200);
    const bodies = await only(harness);
    expect(bodies.client_request?.text).toBe(JSON.stringify(body));
    expect(bodies.client_answer?.text).toBe(answer.text);
  });

  test("two concurrent offers: the one that answered", async () => {
    const config = configOf();
    const [model] = config["models"] as Record<string, unknown>[];
    const providers = config["providers"] as Record<string, object>;
    const offers = ["up-chat", "up-second"].map((provider) => ({ provider, model: "upstream-model" }));
    const harness = await start({
      config: {
        ...config,
        providers: { ...providers, "up-second": providers["up-chat"] },
        models: [{ ...model, offers }],
        routing: { hedge: true },
      },
    });
    const said = JSON.stringify(plainAnswer("chat", { text: "the second", usage: plainUsage("chat", 1, 1) }));
    harness.upstream.play(harness.upstream.openStream(60_000), harness.upstream.stream(said));
    const answer = await harness.call("chat", captured);
    expect(answer.text).toContain("the second");
    expect((await only(harness)).provider_answer).toEqual(whole(said));
  });

  test("no header and no credential of either side is stored", async () => {
    const harness = await start();
    const { upstream } = harness;
    upstream.play(
      upstream.json(plainAnswer("chat", { text: CAPTURED_KEY, usage: plainUsage("chat", 1, 1) }), 200, {
        "x-host-mark": "of-the-host",
      }),
    );
    const body = { messages: [{ role: "user", content: `my key is ${CAPTURED_KEY}` }] };
    await harness.call("chat", { ...captured, body, headers: { "x-client-mark": "of-the-client" } });
    const text = JSON.stringify(await only(harness));
    expect(text).toContain("my key is [secret]");
    expect(text).not.toMatch(/of-the-host|of-the-client|upstream-secret|a-key-whose-bodies-are-kept/);
  });
});

/** The storage, which does this with captures. */
function failing(storage: Storage, instead: () => Promise<void>): Storage {
  return {
    engine: storage.engine,
    query: (...all) => storage.query(...all),
    transaction: (...all) => storage.transaction(...all),
    runForEach: (text, ...rest) => (text.includes("INTO captures") ? instead() : storage.runForEach(text, ...rest)),
    changeStamp: () => storage.changeStamp(),
    close: () => storage.close(),
  };
}

describe("0064: capturing bodies affects no call", () => {
  const plain = plainAnswer("chat", { text: "ok", usage: plainUsage("chat", 1, 1) });

  test("a storage that rejects captures: calls and receipts are unaffected, and losses are counted and logged", async () => {
    const machine = await makeMachine();
    const lines: string[] = [];
    const storage = failing(machine.storage, () => Promise.reject(new Error("disk full")));
    const harness = await start({ machine: { ...machine, storage }, onLog: (line) => lines.push(line) });
    harness.upstream.play(harness.upstream.json(plain));
    for (let round = 0; round < 3; round++) expect((await harness.call("chat", captured)).status).toBe(200);
    expect(await stored(harness)).toEqual(new Map());
    expect(harness.gateway.captures.dropped).toBe(3);
    const [{ total } = { total: 0 }] = await machine.storage.query("SELECT COUNT(*) AS total FROM receipts");
    expect(total).toBe(3);
    await harness.clock.until(harness.gateway.log.flush());
    const told = lines.filter((line) => line.includes("failed to capture bodies"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("disk full");
    expect(harness.leftovers()).toEqual((await Harness.start()).leftovers());
  });

  test("a storage that does not answer: the answer's end does not wait, and the queue is bounded", async () => {
    const machine = await makeMachine();
    const storage = failing(machine.storage, () => new Promise(() => {}));
    const harness = await start({ machine: { ...machine, storage } });
    harness.upstream.play(harness.upstream.json(plain));
    for (let round = 0; round < 300; round++) expect((await harness.call("chat", captured)).status).toBe(200);
    expect(harness.gateway.captures.dropped).toBeGreaterThan(30);
    expect(harness.gateway.captures.dropped).toBeLessThan(60);
  });

  test("a body beyond the limit is cut, with its length", async () => {
    const harness = await start({ config: configOf({ max_body_kb: 1 }) });
    const text = "word ".repeat(1000);
    harness.upstream.play(harness.upstream.json(plainAnswer("chat", { text, usage: plainUsage("chat", 1, 1000) })));
    const answer = await harness.call("chat", { ...captured, body: { messages: [{ role: "user", content: text }] } });
    expect(answer.text).toContain(text);
    const bodies = await only(harness);
    for (const body of Object.values(bodies) as CapturedBody[]) {
      expect([body.text.length, body.cut]).toEqual([1024, true]);
      expect(body.bytes).toBeGreaterThan(5000);
    }
    expect(bodies.client_answer?.bytes).toBe(Buffer.byteLength(answer.text));
  });
});
