import { describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";

const MAIL = "alice.b@example.com";
const REDACT = { name: "people", use: "pii", action: "redact" };
const BLOCK = { name: "people", use: "pii", action: "block", on: ["response"] };
const HOOK = { name: "hook", use: "webhook", url: "http://guard.test/", action: "redact", on: ["response"] };
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
const COST_NANO_USD = 10 * 1000 + 20 * 2000;

const start = (...guards: object[]) => Harness.start({ config: { ...modelsOfEveryDialect(UPSTREAM_URL), guards } });
const usage = plainUsage("chat", 10, 20);
const authorised = { authorization: `Bearer ${TEST_KEY}` };

describe("decision 0123: every way a guarded stream can end", () => {
  test("a JSON array of Google's protocol stays one, redacted or stopped", async () => {
    for (const guard of [REDACT, BLOCK]) {
      const harness = await start(guard);
      const texts: [string, string] = ["Long enough. ".repeat(40) + MAIL.slice(0, 5), `${MAIL.slice(5)} more`];
      harness.upstream.play(harness.upstream.stream(plainStream("genai", texts, plainUsage("genai", 10, 20))));
      const answer = await harness.post("/v1/publishers/test/models/genai:streamGenerateContent", {
        contents: [{ role: "user", parts: [{ text: "hi" }] }],
      });
      expect(answer.text).not.toContain("alice");
      const events = JSON.parse(answer.text) as { candidates?: { finishReason?: string }[] }[];
      expect(events.at(-1)?.candidates?.[0]?.finishReason).toMatch(guard === BLOCK ? /SAFETY/ : /STOP/);
    }
  });

  test.each([REDACT, BLOCK])(
    "H16: a stream that breaks is an error, and nothing that was held leaves",
    async (guard) => {
      const harness = await start(guard);
      harness.upstream.play(harness.upstream.brokenStream(wire.chatChunk({ content: `said ${MAIL}` }), 10));
      const answer = await harness.call("chat", { stream: true });
      expect(answer.text).not.toContain("alice");
      expect(answer.text).toContain('"error"');
      expect(harness.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  test("H26: a client that leaves is billed, guarded or blocked", async () => {
    for (const guard of [REDACT, BLOCK, HOOK]) {
      const harness = await start(guard);
      const chunks = Array.from({ length: 50 }, (_, at) => [wire.chatChunk({ content: `${at} ${MAIL} ` }), 20]).flat();
      const stream = harness.upstream.stream(...chunks, wire.chatChunk({}, "stop"), wire.chatUsage(usage), wire.done);
      const allow = harness.upstream.json({ verdict: "allow" });
      harness.upstream.play((reply, request) =>
        (request.url === "http://guard.test/" ? allow : stream)(reply, request),
      );
      const call = harness.send("chat", { stream: true });
      await harness.clock.pass(500);
      call.disconnect();
      await harness.clock.pass(10_000);
      const [receipt] = await harness.receipts();
      expect(receipt?.cost_nano_usd).toBe(COST_NANO_USD);
      expect(harness.leftovers()).toEqual(NOTHING_LEFT);
    }
  });

  test("an empty response has passed", async () => {
    const harness = await start(REDACT, HOOK);
    harness.upstream.play(harness.upstream.stream(wire.chatChunk({}, "stop"), wire.chatUsage(usage), wire.done));
    const answer = await harness.call("chat", { stream: true });
    expect(answer.text).toEndWith(wire.done);
    const { guards } = await harness.receipt(answer);
    expect(guards.filter(({ on }) => on === "response").map(({ verdict }) => verdict)).toEqual(["passed", "passed"]);
  });

  test("observing changes no byte and holds nothing back", async () => {
    const harness = await start({ ...REDACT, action: "observe" });
    const script = ({ upstream }: Harness) =>
      upstream.stream(wire.chatChunk({ content: `to ${MAIL}` }), 100, wire.chatChunk({}, "stop"), wire.done);
    harness.upstream.play(script(harness));
    const answer = await harness.call("chat", { stream: true });
    const plain = await start();
    plain.upstream.play(script(plain));
    expect(answer.text).toBe((await plain.call("chat", { stream: true })).text);
    expect(answer.chunks.find(({ text }) => text.includes("alice"))?.ms).toBe(0);
    expect((await harness.receipt(answer)).guards[1]).toMatchObject({ verdict: "observed", count: 1 });
  });

  test("a hedged call has the verdicts of the response that the client gets", async () => {
    const scripted = modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 60_000, idle: 60_000 });
    const [model] = scripted["models"] as object[];
    const offers = ["up-chat", "up-messages"].map((provider) => ({ provider, model: "upstream-model" }));
    const two = { ...model, id: "test/two", offers };
    const models = [...(scripted["models"] as object[]), two];
    const harness = await Harness.start({ config: { ...scripted, models, guards: [REDACT] } });
    const slow = harness.upstream.stream(30_000, plainStream("chat", ["nothing ", "found"], usage));
    const fast = harness.upstream.stream(
      plainStream("messages", ["mail alice.b@", "example.com"], plainUsage("messages", 10, 20)),
    );
    harness.upstream.play((reply, request) => (request.url.includes("/messages") ? fast : slow)(reply, request));
    const answer = await harness.call("chat", {
      model: "test/two",
      stream: true,
      headers: { "x-trivium-hedge": "true" },
    });
    expect(answer.text).toContain("mail [redacted:email]");
    expect(answer.text).not.toContain("alice");
    const receipt = await harness.receipt(answer);
    expect(receipt.hedged).toBe(true);
    expect(receipt.guards[1]).toMatchObject({ on: "response", verdict: "redacted", count: 1 });
  });

  test("a webhook that answers late delays only its own stream, and keep-alives go on", async () => {
    const harness = await start({ ...HOOK, timeout_ms: 60_000 });
    const stream = harness.upstream.stream(plainStream("chat", ["Fine, ", "thanks."], usage));
    harness.upstream.play(async (reply, request) => {
      if (request.url !== "http://guard.test/") return stream(reply, request);
      await harness.clock.sleep(40_000);
      return harness.upstream.json({ verdict: "allow" })(reply, request);
    });
    const answer = await harness.call("chat", { stream: true });
    expect(answer.text).toContain("thanks.");
    expect(answer.text).toContain(": ");
    expect(answer.endMs).toBeGreaterThanOrEqual(40_000);
    expect((await harness.receipt(answer)).stop?.unified).toBe("stop");
  });
});

describe("decision 0123: stored responses of guarded calls", () => {
  test("a stored completion, streamed or not", async () => {
    for (const stream of [false, true]) {
      const harness = await start(REDACT);
      harness.upstream.play(
        stream
          ? harness.upstream.stream(plainStream("chat", ["mail alice.b@", "example.com"], usage))
          : harness.upstream.json(plainAnswer("chat", { text: `mail ${MAIL}`, usage })),
      );
      const messages = [{ role: "user", content: `from ${MAIL}` }];
      const made = await harness.call("chat", {
        door: "dropin",
        stream,
        body: { messages, store: true, metadata: { who: MAIL } },
      });
      expect(made.status).toBe(200);
      const listed = await harness.get("/v1/chat/completions", authorised);
      expect(listed.text).toContain("mail [redacted:email]");
      const id = (JSON.parse(listed.text) as { data: { id: string }[] }).data[0]?.id ?? "";
      const asked = await harness.get(`/v1/chat/completions/${id}/messages`, authorised);
      expect(asked.text).toContain("from [redacted:email]");
      expect(listed.text + asked.text).not.toContain("alice");
    }
  });

  test("a background response is stored as the guards left it, or stopped", async () => {
    for (const guard of [REDACT, BLOCK]) {
      const harness = await start(guard);
      harness.upstream.play(harness.upstream.json(plainAnswer("chat", { text: `mail ${MAIL}`, usage })));
      const queued = await harness.call("responses", { model: "test/chat", body: { background: true } });
      const { id } = JSON.parse(queued.text) as { id: string };
      await harness.clock.pass(5_000);
      const shown = await harness.get(`/v1/responses/${id}`, authorised);
      expect(shown.text).not.toContain("alice");
      expect(JSON.parse(shown.text)).toMatchObject(
        guard === REDACT
          ? { status: "completed", output: [{ content: [{ text: "mail [redacted:email]" }] }] }
          : { status: "incomplete", incomplete_details: { reason: "content_filter" } },
      );
    }
  });
});
