import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

const ALL = ["chat", "messages", "genai", "responses", "interactions"] as const satisfies readonly DialectName[];
const HOOK = "http://guard.test/check?token=hidden";
const SECRET = "a-secret-of-sixteen-characters";
const MAIL = "alice.b@example.com";

const start = (...guards: object[]) => Harness.start({ config: { ...modelsOfEveryDialect(UPSTREAM_URL), guards } });

/** The webhook answers, and so does the provider. */
function play(harness: Harness, hook: Script, answer: Script): void {
  harness.upstream.play((reply, request) =>
    (request.url.startsWith("http://guard.test") ? hook : answer)(reply, request),
  );
}

const whole = (harness: Harness, host: DialectName, text = "Fine.") =>
  harness.upstream.json(plainAnswer(host, { text, usage: plainUsage(host, 10, 20) }));
const streamed = (harness: Harness, host: DialectName, first: string, second: string) =>
  harness.upstream.stream(plainStream(host, [first, second], plainUsage(host, 10, 20)));

const toHosts = ({ upstream }: Harness) => upstream.requests.filter(({ url }) => !url.startsWith("http://guard.test"));
const toHook = ({ upstream }: Harness) =>
  upstream.requests
    .filter(({ url }) => url.startsWith("http://guard.test"))
    .map(({ body, headers }) => ({
      headers,
      raw: body,
      ...(JSON.parse(body) as { guard: string; on: string; texts: { path: string; text: string }[] }),
    }));

const verdicts = async (harness: Harness, answer: { headers: Headers }) =>
  (await harness.receipt(answer)).guards.map(({ name, on, verdict }) => `${name} ${on} ${verdict}`);

/** A request with a text of each kind, in which an address is written with an escape. */
const TEXTS: Record<(typeof ALL)[number], Record<string, unknown>> = {
  chat: {
    messages: [
      { role: "system", content: `system ${MAIL}` },
      { role: "user", content: [{ type: "text", text: `user ${MAIL}` }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "send", arguments: `{"to":"${MAIL}"}` } }],
      },
      { role: "tool", tool_call_id: "c1", content: `result ${MAIL}` },
    ],
    tools: [
      {
        type: "function",
        function: {
          name: "send",
          description: `tool ${MAIL}`,
          parameters: { type: "object", properties: { to: { type: "string", description: `schema ${MAIL}` } } },
        },
      },
    ],
  },
  messages: {
    max_tokens: 100,
    system: [{ type: "text", text: `system ${MAIL}` }],
    messages: [
      { role: "user", content: `user ${MAIL}` },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_1", name: "send", input: { to: MAIL, [MAIL]: 1 } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: `result ${MAIL}` }] },
    ],
    tools: [{ name: "send", description: `tool ${MAIL}`, input_schema: { type: "object", properties: {} } }],
  },
  genai: {
    systemInstruction: { parts: [{ text: `system ${MAIL}` }] },
    contents: [
      { role: "user", parts: [{ text: `user ${MAIL}` }] },
      { role: "model", parts: [{ functionCall: { name: "send", args: { to: MAIL } } }] },
      { role: "user", parts: [{ functionResponse: { name: "send", response: { said: `result ${MAIL}` } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: "send", description: `tool ${MAIL}` }] }],
  },
  responses: {
    instructions: `system ${MAIL}`,
    input: [
      { role: "user", content: [{ type: "input_text", text: `user ${MAIL}` }] },
      { type: "function_call", call_id: "c1", name: "send", arguments: `{"to":"${MAIL}"}` },
      { type: "function_call_output", call_id: "c1", output: `result ${MAIL}` },
    ],
    tools: [
      { type: "function", name: "send", description: `tool ${MAIL}`, parameters: { type: "object", properties: {} } },
    ],
  },
  interactions: { system_instruction: `system ${MAIL}`, input: [{ type: "text", text: `user ${MAIL}` }] },
};

describe("decision 0123: guards on requests", () => {
  const pairs = ALL.flatMap((client) => ALL.map((host) => [client, host] as const));

  test.each(pairs)("%s to %s: every text is seen and redacted", async (client, host) => {
    const harness = await start({ name: "people", use: "pii", action: "redact", on: ["request"] });
    harness.upstream.play(whole(harness, host));
    const answer = await harness.call(client, { model: `test/${host}`, body: TEXTS[client] });
    expect(answer.status).toBe(200);
    const [sent] = harness.upstream.requests;
    expect(sent?.body).not.toContain("alice");
    expect(sent?.body.split("[redacted:email]").length).toBeGreaterThan(2);
    expect(await verdicts(harness, answer)).toEqual(["people request redacted"]);
  });

  test("an escape in the body hides nothing, and the rest of the body keeps its bytes", async () => {
    const harness = await start({ name: "people", use: "pii", action: "redact" });
    harness.upstream.play(whole(harness, "chat"));
    const body = `{"model":"test/chat", "messages":[{"role":"user","content":"to bob\\u0040exam\\u0070le.org!"}],"x":1.50}`;
    await harness.clock.until(
      harness.sendRaw("/v1/chat/completions", body, { "content-type": "application/json" }).answer,
    );
    expect(harness.upstream.requests[0]?.body).toContain('"content":"to [redacted:email]!"}],"x":1.50}');
  });

  test.each(ALL)("%s: a blocked request is 400, costs nothing and reaches no provider", async (client) => {
    const harness = await start(
      { name: "first", use: "words", words: ["nothing here"], action: "block" },
      { name: "people", use: "pii", action: "block" },
      { name: "last", use: "secrets", action: "redact" },
    );
    harness.upstream.play(whole(harness, client));
    const answer = await harness.call(client, { body: TEXTS[client] });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('The guard \\"people\\" blocked this request: email.');
    expect(answer.text).not.toContain("alice");
    expect(harness.upstream.requests).toHaveLength(0);
    const receipt = await harness.receipt(answer);
    expect(receipt.cost_nano_usd).toBe(0);
    expect(await verdicts(harness, answer)).toEqual([
      "first request passed",
      "people request blocked",
      "last request not_run",
      "first response not_run",
      "people response not_run",
      "last response not_run",
    ]);
    expect(harness.gateway.runningCalls).toBe(0);
  });

  test("guards run in order, each on what the one before left, for the calls that they are for", async () => {
    const harness = await start(
      { name: "people", use: "pii", action: "redact" },
      { name: "words", use: "words", words: ["redacted:email"], action: "observe" },
      { name: "others", use: "pii", action: "block", for: { models: ["other/*"] } },
      { name: "keys", use: "pii", action: "observe", for: { keys: ["tests"], projects: ["default"] } },
    );
    harness.upstream.play(whole(harness, "chat"));
    const answer = await harness.call("chat", { body: TEXTS.chat });
    expect((await verdicts(harness, answer)).slice(0, 3)).toEqual([
      "people request redacted",
      "words request observed",
      "keys request passed",
    ]);
  });
});

describe("decision 0123: a response that a guard blocks", () => {
  const STOPS: Record<(typeof ALL)[number], RegExp> = {
    chat: /"finish_reason":"content_filter"/,
    messages: /"stop_reason":"refusal"/,
    genai: /"finishReason":"(?:FINISH_REASON_)?SAFETY"/,
    responses: /"reason":"content_filter"/,
    interactions: /"status":"(?:incomplete|failed|cancelled)"|filter|safety/i,
  };
  const pairs = ALL.flatMap((client) => ALL.map((host) => [client, host] as const));

  test.each(pairs)("%s client, %s host: ends with the protocol's filter stop and is billed", async (client, host) => {
    const harness = await start({ name: "people", use: "pii", action: "block", on: ["response"] });
    const harmless = "This is harmless. ".repeat(30);
    for (const stream of [false, true]) {
      harness.upstream.play(
        stream
          ? streamed(harness, host, `${harmless}${MAIL.slice(0, 7)}`, `${MAIL.slice(7)} and more`)
          : whole(harness, host, `${harmless}${MAIL}`),
      );
      const answer = await harness.call(client, { model: `test/${host}`, stream });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain("alice");
      expect(answer.text).not.toContain("and more");
      expect(answer.text).toMatch(STOPS[client]);
      const receipt = await harness.receipt(answer);
      expect(receipt.cost_nano_usd).toBe(10 * 1000 + 20 * 2000);
      expect(receipt.stop?.unified).toBe("filter");
      expect(receipt.guards).toMatchObject([{ verdict: "blocked", reason: "email", count: 1 }]);
      expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0, openUpstreams: 0 });
    }
  });
});

const hookGuard = { name: "hook", use: "webhook", url: HOOK, secret: SECRET, action: "redact", timeout_ms: 500 };

describe("decision 0123: webhooks", () => {
  test("get the texts with their paths, signed, and replace by path", async () => {
    const harness = await start(hookGuard);
    play(
      harness,
      (reply, { body }) => {
        const { texts } = JSON.parse(body) as { texts: { path: string; text: string }[] };
        const replacements = texts.flatMap(({ path, text }) =>
          text.includes(MAIL) ? [{ path, text: text.replaceAll(MAIL, "somebody") }] : [],
        );
        return harness.upstream.json(
          replacements.length > 0 ? { verdict: "replace", replacements } : { verdict: "allow" },
        )(reply, { url: "", headers: {}, body, atMs: 0 });
      },
      whole(harness, "chat", `Write to ${MAIL}.`),
    );
    const answer = await harness.call("chat", { body: TEXTS.chat });
    expect(answer.text).toContain("Write to somebody.");
    expect(toHosts(harness)[0]?.body).not.toContain("alice");
    const [asked, answered] = toHook(harness);
    expect(asked?.guard).toBe("hook");
    expect([asked?.on, answered?.on]).toEqual(["request", "response"]);
    expect(asked?.texts).toContainEqual({ path: "messages[0].content", text: `system ${MAIL}` });
    expect(asked?.texts).toContainEqual({ path: "messages[2].tool_calls[0].function.arguments.to", text: MAIL });
    expect(answered?.texts).toEqual([{ path: "choices[0].message.content", text: `Write to ${MAIL}.` }]);
    const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(asked?.headers["x-trivium-signature"] ?? "") ?? [];
    expect(createHmac("sha256", SECRET).update(`${seconds}.${asked?.raw}`).digest("hex")).toBe(digest ?? "");
    expect(await verdicts(harness, answer)).toEqual(["hook request redacted", "hook response redacted"]);
  });

  test.each(ALL)("%s: sees a stream in windows, and replaces in it", async (client) => {
    const harness = await start({ ...hookGuard, on: ["response"] });
    const long = `${"Words of a long answer. ".repeat(80)}${MAIL} ${"And so on. ".repeat(80)}`;
    play(
      harness,
      (reply, { body }) => {
        const { texts } = JSON.parse(body) as { texts: { path: string; text: string }[] };
        const replacements = texts.flatMap(({ path, text }) =>
          text.includes(MAIL) ? [{ path, text: text.replaceAll(MAIL, "somebody") }] : [],
        );
        reply.head(200, {});
        void reply.write(
          JSON.stringify(replacements.length > 0 ? { verdict: "replace", replacements } : { verdict: "allow" }),
        );
        reply.end();
      },
      (reply, request) =>
        harness.upstream.stream(
          plainStream("messages", [long.slice(0, 1925), long.slice(1925)], plainUsage("messages", 10, 20)),
        )(reply, request),
    );
    const answer = await harness.call(client, { stream: true, model: "test/messages" });
    expect(answer.text).not.toContain("alice");
    expect(answer.text).toContain("somebody");
    expect(answer.text).toContain("And so on.");
    expect(await verdicts(harness, answer)).toEqual(["hook response redacted"]);
  });

  const FAULTS: [string, (harness: Harness) => Script, RegExp][] = [
    [
      "is slow",
      ({ clock, upstream }) =>
        async (reply, request) => {
          await clock.sleep(2000);
          await upstream.json({ verdict: "allow" })(reply, request);
        },
      /did not answer within 500 ms/,
    ],
    ["is down", () => (reply) => reply.fail("connect"), /could not be reached/],
    ["answers 500", ({ upstream }) => upstream.json({}, 500), /answered 500/],
    [
      "redirects",
      ({ upstream }) => upstream.json({}, 302, { location: "http://elsewhere.test" }),
      /redirects are not followed/,
    ],
    ["answers other JSON", ({ upstream }) => upstream.json({ ok: true }), /without a known verdict/],
    [
      "answers no JSON",
      () => (reply) => {
        reply.head(200, {});
        void reply.write("<html>");
        reply.end();
      },
      /without a known verdict/,
    ],
    [
      "replaces an unknown path",
      ({ upstream }) => upstream.json({ verdict: "replace", replacements: [{ path: "x", text: "y" }] }),
      /unknown path/,
    ],
    ["replaces nothing", ({ upstream }) => upstream.json({ verdict: "replace" }), /without replacements/],
    [
      "answers without end",
      () => (reply) => {
        reply.head(200, {});
        void reply.write("x".repeat(300_000));
        reply.end();
      },
      /more than \d+ bytes/,
    ],
  ];

  test.each(FAULTS)("H57: one that %s did not run, and says so", async (_name, script, reason) => {
    const allowing = await start({ ...hookGuard, on_failure: "allow", on: ["request"] });
    play(allowing, script(allowing), whole(allowing, "chat"));
    const answer = await allowing.call("chat");
    expect(answer.status).toBe(200);
    const receipt = await allowing.receipt(answer);
    expect(receipt.guards).toMatchObject([{ verdict: "not_run" }]);
    expect(receipt.guards[0]?.reason).toMatch(reason);
    expect(JSON.stringify(receipt)).not.toContain("hidden");

    const blocking = await start({ ...hookGuard, on: ["request"] });
    play(blocking, script(blocking), whole(blocking, "chat"));
    const refused = await blocking.call("chat");
    expect(refused.status).toBe(503);
    expect(toHosts(blocking)).toHaveLength(0);
    expect((await blocking.receipt(refused)).cost_nano_usd).toBe(0);
  });

  test.each([false, true])(
    "one that fails on a response is 503 or an error in the stream, and billed (stream: %p)",
    async (stream) => {
      const harness = await start({ ...hookGuard, on: ["response"] });
      const answering = stream ? streamed(harness, "chat", "One ", "two.") : whole(harness, "chat");
      play(harness, harness.upstream.json({}, 500), answering);
      const answer = await harness.call("chat", { stream });
      expect(answer.status).toBe(stream ? 200 : 503);
      expect(answer.text).toContain("could not check this response");
      expect(answer.text).not.toContain("two.");
      expect(toHosts(harness)).toHaveLength(1);
      expect((await harness.receipt(answer)).cost_nano_usd).toBe(10 * 1000 + 20 * 2000);
    },
  );

  test("a dead one does not delay every call for ever", async () => {
    const harness = await start({ ...hookGuard, on_failure: "allow", on: ["request"] });
    const late: Script = async (reply) => {
      await harness.clock.sleep(60_000);
      reply.fail("broken");
    };
    play(harness, late, whole(harness, "chat"));
    const times: number[] = [];
    for (let count = 0; count < 8; count++) times.push((await harness.call("chat")).endMs);
    expect(times.slice(0, 5).every((ms) => ms >= 500)).toBe(true);
    expect(times.slice(5)).toEqual([0, 0, 0]);
    play(harness, harness.upstream.json({ verdict: "allow" }), whole(harness, "chat"));
    await harness.clock.pass(31_000);
    const again = await harness.call("chat");
    expect(await verdicts(harness, again)).toEqual(["hook request passed"]);
  });

  test("may block, with a reason", async () => {
    const harness = await start({ ...hookGuard, action: "block" });
    play(harness, harness.upstream.json({ verdict: "block", reason: "not in this house" }), whole(harness, "chat"));
    const answer = await harness.call("chat");
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("not in this house");
  });
});
