import { describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { quirksOf } from "../../src/dialects/quirks.ts";
import { BUILT_IN } from "../../src/providers/index.ts";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";

const ALL = ["chat", "messages", "genai", "responses", "interactions"] as const satisfies readonly DialectName[];

const start = (...guards: object[]) => Harness.start({ config: { ...modelsOfEveryDialect(UPSTREAM_URL), guards } });

const REDACT = [
  { name: "keys", use: "secrets", action: "redact" },
  { name: "people", use: "pii", action: "redact" },
];

/** Things that must not leave, and what is left of a text with them. */
const CORPUS: readonly { secret: string; label: string }[] = [
  { secret: "alice.b@example.com", label: "email" },
  { secret: "AKIAIOSFODNN7EXAMPLE", label: "aws_key" },
  { secret: "4111 1111 1111 1111", label: "card" },
  { secret: "+49 30 123 4567", label: "phone" },
  { secret: "DE89 3704 0044 0532 0130 00", label: "iban" },
  { secret: "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", label: "github_token" },
];
const said = CORPUS.map(({ secret }) => secret).join(" and ");
const TEXT = `Dear reader: ${said}, which is all. ${"Nothing more to say. ".repeat(3)}`;
const LEFT = CORPUS.reduce((text, { secret, label }) => text.replace(secret, `[redacted:${label}]`), TEXT);

const context = (dialect: DialectName) => ({
  origin: "test",
  quirks: quirksOf(dialect),
  reading: {},
  makeId: () => "id",
});

/** What a client of the dialect puts together from a stream. */
function streamedText(dialect: DialectName, body: string): string {
  const decoder = BUILT_IN.dialects.get(dialect).codec.createStreamDecoder(context(dialect));
  const events = [...readFrames(body).flatMap((frame) => (frame.data ? decoder.push(frame) : [])), ...decoder.end()];
  expect(events.at(-1)?.type).toBe("finish");
  return events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
}

function wholeText(dialect: DialectName, body: string): string {
  const { parts } = BUILT_IN.dialects.get(dialect).codec.decodeResponse(JSON.parse(body), context(dialect));
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function expectNoSecret(text: string): void {
  for (const { secret } of CORPUS) expect(text).not.toContain(secret);
}

const pairs = ALL.flatMap((client) => ALL.map((host) => [client, host] as const));

describe("decision 0123: guards that redact", () => {
  test.each(pairs)("%s client, %s host: nothing leaks, wherever a stream is cut", async (client, host) => {
    const harness = await start(...REDACT);
    for (let at = 12; at < TEXT.length - 60; at++) {
      const usage = plainUsage(host, 10, 20);
      harness.upstream.play(harness.upstream.stream(plainStream(host, [TEXT.slice(0, at), TEXT.slice(at)], usage)));
      const answer = await harness.call(client, { stream: true, model: `test/${host}` });
      expectNoSecret(answer.text);
      expect(streamedText(client, answer.text)).toBe(LEFT);
    }
    harness.upstream.play(harness.upstream.json(plainAnswer(host, { text: TEXT, usage: plainUsage(host, 10, 20) })));
    const whole = await harness.call(client, { model: `test/${host}` });
    expectNoSecret(whole.text);
    expect(wholeText(client, whole.text)).toBe(LEFT);
    const receipt = await harness.receipt(whole);
    expect(receipt.guards.map(({ name, on, verdict, count }) => [name, on, verdict, count])).toEqual([
      ["keys", "request", "passed", 0],
      ["people", "request", "passed", 0],
      ["keys", "response", "redacted", 2],
      ["people", "response", "redacted", 4],
    ]);
    expect(harness.leftovers()).toEqual({
      runningCalls: 0,
      orphanedTexts: 0,
      orphanedImages: 0,
      heldBytes: 0,
      openUpstreams: 0,
    });
  });
});

const LONG = Array.from(
  { length: 40 },
  (_, place) => `Sentence ${place}. ${CORPUS[place % 6]?.secret ?? ""}, ok?`,
).join(" ");
const LONG_LEFT = CORPUS.reduce((text, { secret, label }) => text.replaceAll(secret, `[redacted:${label}]`), LONG);

describe("decision 0123: streams are held back by a window", () => {
  test.each(["chat", "messages", "genai"] as const)("%s: character by character", async (host) => {
    const harness = await start(...REDACT);
    const pieces = {
      chat: [...[...LONG].map((one) => wire.chatChunk({ content: one })), wire.chatChunk({}, "stop"), wire.done],
      messages: [wire.messageStart() + wire.textBlock(...LONG) + wire.messageEnd()],
      genai: [...[...LONG].map((one) => wire.genaiChunk(one)), wire.genaiChunk("", "STOP")],
    }[host];
    for (const client of ALL) {
      harness.upstream.play(harness.upstream.stream(...pieces));
      const answer = await harness.call(client, { stream: true, model: `test/${host}` });
      expectNoSecret(answer.text);
      expect(streamedText(client, answer.text)).toBe(LONG_LEFT);
    }
  });

  test("text reaches the client while the stream goes on, one window behind", async () => {
    const harness = await start(...REDACT);
    const word = "harmless ";
    const steps = Array.from({ length: 100 }, () => [wire.chatChunk({ content: word }), 10]).flat();
    harness.upstream.play(harness.upstream.stream(...steps, wire.chatChunk({}, "stop"), wire.done));
    const { chunks } = await harness.call("chat", { stream: true });
    const first = chunks.find(({ text }) => text.includes(word.trim()));
    // 200 characters for each of the two guards, at nine in ten milliseconds.
    expect(first?.ms).toBeGreaterThan(200);
    expect(first?.ms).toBeLessThan(600);
    expect(chunks.length).toBeGreaterThan(10);
    // The end comes with that of the provider.
    expect(chunks.at(-1)?.ms).toBe(1_000);
  });

  test("unchanged events keep their bytes", async () => {
    const harness = await start(...REDACT);
    const odd = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk", "created":1,"model":"m","x_odd":{"1":1.50},"choices":[{"index":0,"delta":{"content":"h\\u0069"},"finish_reason":null}]}\n\n`;
    const script = harness.upstream.stream(odd + wire.chatChunk({}, "stop") + wire.done);
    harness.upstream.play(script);
    const guarded = await harness.call("chat", { stream: true });
    const plain = await start();
    plain.upstream.play(script);
    expect(guarded.text).toBe((await plain.call("chat", { stream: true })).text);
  });

  test("interleaved choices and texts are kept apart, and log probabilities are left out", async () => {
    const harness = await start(...REDACT);
    const chunk = (index: number, delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index, delta, finish_reason: finish, logprobs: { content: [{ token: "AKIAIOSFODNN7EXAMPLE", logprob: -1 }] } }] })}\n\n`;
    const [one, two] = ["mail alice.b@example.com now", "card 4111 1111 1111 1111 ok!"];
    const steps = Array.from({ length: one.length }, (_, at) => [
      chunk(0, { content: one[at] }),
      chunk(1, { content: two[at], reasoning_content: one[at] }),
    ]).flat();
    harness.upstream.play(harness.upstream.stream(...steps, chunk(0, {}, "stop"), chunk(1, {}, "stop"), wire.done));
    const answer = await harness.call("chat", { door: "dropin", stream: true, body: { logprobs: true } });
    expectNoSecret(answer.text);
    const events = readFrames(answer.text).flatMap(({ data }) => (data?.startsWith("{") ? [JSON.parse(data)] : []));
    const joined = (index: number, key: string) =>
      events
        .flatMap(({ choices }) => choices.filter((choice: { index: number }) => choice.index === index))
        .map(({ delta }) => delta[key] ?? "")
        .join("");
    expect(joined(0, "content")).toBe("mail [redacted:email] now");
    expect(joined(1, "content")).toBe("card [redacted:card] ok!");
    expect(joined(1, "reasoning_content") + joined(1, "reasoning")).toContain("mail [redacted:email] now");
    const receipt = await harness.receipt(answer);
    expect(receipt.fields.map(({ path, action }) => [path, action])).toContainEqual(["logprobs", "dropped"]);
  });

  test.each(ALL)("%s: arguments of a tool, decoded before they are checked, and signed thoughts", async (client) => {
    const harness = await start(...REDACT);
    const args = '{"to":"alice.b\\u0040example.com","amount":4111111111111111}';
    const block = (index: number, content: object, ...deltas: object[]) =>
      wire.event({ type: "content_block_start", index, content_block: content }) +
      deltas.map((delta) => wire.event({ type: "content_block_delta", index, delta })).join("") +
      wire.event({ type: "content_block_stop", index });
    const thought = "I will write to alice.b@example.com at once";
    const stream =
      wire.messageStart() +
      block(
        0,
        { type: "thinking", thinking: "", signature: "" },
        ...[...thought].map((one) => ({ type: "thinking_delta", thinking: one })),
        { type: "signature_delta", signature: "sealed".repeat(60) },
      ) +
      block(
        1,
        { type: "tool_use", id: "toolu_1", name: "send", input: {} },
        ...[...args].map((one) => ({ type: "input_json_delta", partial_json: one })),
      ) +
      wire.event({
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: { output_tokens: 7 },
      }) +
      wire.event({ type: "message_stop" });
    harness.upstream.play(harness.upstream.stream(stream));
    const tools = { messages: { thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 } };
    const body = (tools as Record<string, Record<string, unknown>>)[client] ?? {};
    const answer = await harness.call(client, { stream: true, model: "test/messages", body });
    expectNoSecret(answer.text);
    expect(answer.text).not.toContain("u0040example");
    expect(answer.text).not.toContain("4111111111111111");
    expect(answer.text).toContain("[redacted:card]");
    if (client === "messages") {
      expect(answer.text).toContain("[redacted:email]");
      expect(answer.text).not.toContain("sealedsealed");
    }
  });
});
