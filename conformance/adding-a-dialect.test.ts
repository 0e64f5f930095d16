import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { BUILT_IN } from "../src/providers/index.ts";
import type { ProviderDeclaration } from "../src/providers/provider.ts";
import { plainCodec } from "./plain-dialect/codec.ts";
import { plain } from "./plain-dialect/index.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

/** A provider kind that speaks only the new dialect. */
const plainHost: ProviderDeclaration = {
  kind: "plain-host",
  publishers: [],
  fields: { required: ["base_url"], optional: [] },
  baseUrl: () => {
    throw new Error("base_url is needed");
  },
  authenticate: () => () => ({ "x-plain-key": "secret" }),
  dialects: { plain: { generate: () => "/ask" } },
};

const registry = {
  dialects: BUILT_IN.dialects.with(plain),
  kinds: new Map([...BUILT_IN.kinds, [plainHost.kind, plainHost]]),
};

let host: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  host = await startScriptedUpstream();
  const model = (id: string, provider: string) => ({
    id,
    offers: [{ provider, model: "there" }],
    max_output_tokens: 100,
    pricings: {},
  });
  gateway = await startTestGateway({
    registry,
    config: {
      providers: {
        plain: { kind: "plain-host", base_url: host.url },
        chat: { kind: "openai", base_url: `${host.url}/v1`, api_key: "chat-secret" },
      },
      models: [model("test/plain", "plain"), model("test/chat", "chat")],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await host.stop();
});

const post = (path: string, body: object): Promise<Response> =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const ask = (model: string, more: object = {}) =>
  post("/api/plain/v1/ask", { model, lines: [{ who: "user", text: "Say hi." }], ...more });
const chat = (model: string, more: object = {}) =>
  post("/api/v1/chat/completions", { model, messages: [{ role: "user", content: "Say hi." }], ...more });

const sendJson = (response: ServerResponse, body: object, status = 200) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const sendEvents = (response: ServerResponse, ...events: readonly (object | string)[]) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
  response.end();
};
const eventsOf = async (response: Response): Promise<unknown[]> =>
  [...(await response.text()).matchAll(/^data: (\{.*\})$/gm)].map(([, data = ""]) => JSON.parse(data) as unknown);

const HI = { id: "a1", model: "there", text: "Hi.", why: "end", tokens: { in: 3, out: 2 } };
const CHAT_HI = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "there",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const chatChunk = (delta: object, finish: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "there",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

test("docs/adding-a-dialect.md names exactly the files that a dialect needs", () => {
  const page = readFileSync(new URL("../docs/adding-a-dialect.md", import.meta.url), "utf8");
  const [, table = ""] = /\| file \| what is in it \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  const named = table.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([\w-]+\.ts)`/g)]);
  const files = readdirSync(new URL("plain-dialect", import.meta.url));
  expect(named.map(([, file]) => file).sort()).toEqual(files.sort());
});

describe("docs/adding-a-dialect.md: a client of the new dialect", () => {
  test("at a host of the same dialect, body and response pass unchanged", async () => {
    host.play((_request, response) => sendJson(response, HI));
    const answer = await ask("test/plain", { mine: 1 });
    expect(await answer.json()).toEqual({ ...HI, model: "test/plain" });
    expect(JSON.parse(host.seen[0]?.body ?? "")).toEqual({
      model: "there",
      lines: [{ who: "user", text: "Say hi." }],
      mine: 1,
    });
    expect(host.seen[0]?.headers["x-plain-key"]).toBe("secret");
    expect(await gateway.receipt(answer)).toMatchObject({
      dialect: { client: "plain", upstream: "plain" },
      lane: "native",
      usage: { input: 3, output: 2 },
    });
  });

  test("at a host of the same dialect, each event of a stream passes unchanged", async () => {
    host.play((_request, response) =>
      sendEvents(response, { text: "H" }, { text: "i." }, { why: "end", tokens: HI.tokens }),
    );
    const answer = await ask("test/plain", { stream: true });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(await eventsOf(answer)).toEqual([{ text: "H" }, { text: "i." }, { why: "end", tokens: HI.tokens }]);
    expect(await gateway.receipt(answer)).toMatchObject({ lane: "native", usage: { output: 2 } });
  });

  test("at a host of another dialect, it goes through the canon, and losses are in the receipt", async () => {
    host.play((_request, response) => sendJson(response, CHAT_HI));
    const answer = await ask("test/chat", { most: 7, mine: 1 });
    expect(await answer.json()).toEqual({ ...HI, id: "c1", model: "test/chat" });
    expect(JSON.parse(host.seen[0]?.body ?? "")).toEqual({
      model: "there",
      messages: [{ role: "user", content: "Say hi." }],
      max_completion_tokens: 7,
    });
    expect(answer.headers.get("x-trivium-dropped")).toBe("mine");
  });

  test("at a host of another dialect, streamed", async () => {
    host.play((_request, response) =>
      sendEvents(
        response,
        chatChunk({ content: "H" }),
        chatChunk({ content: "i." }),
        chatChunk({}, "length"),
        "[DONE]",
      ),
    );
    const events = await eventsOf(await ask("test/chat", { stream: true }));
    expect(events).toEqual([{ text: "H" }, { text: "i." }, expect.objectContaining({ why: "cut" })]);
  });

  test.each(["test/plain", "test/chat"])("gets failures in its own dialect: %s", async (model) => {
    host.play((_request, response) => sendJson(response, { message: "too many lines", error: { message: "x" } }, 400));
    const refused = await ask(model);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({ problem: "invalid_request", message: expect.any(String) });
    const wrong = await ask(model, { most: 0 });
    expect(await wrong.json()).toEqual({ problem: "invalid_request", message: expect.stringContaining("most") });
    expect((await ask("test/nothing")).status).toBe(404);
  });

  test("gets a failure inside a stream in its own dialect", async () => {
    host.play((_request, response) =>
      sendEvents(response, { text: "H" }, { problem: "broken", message: "the host fell" }),
    );
    const events = await eventsOf(await ask("test/plain", { stream: true }));
    expect(events).toEqual([{ text: "H" }, { problem: "upstream_failed", message: expect.any(String) }]);
  });

  test("has its lists, its counter and errors for unknown endpoints", async () => {
    const get = async (path: string) => (await fetch(gateway.url + path)).json();
    expect(await get("/api/plain/v1/models")).toEqual({ names: expect.arrayContaining(["test/chat", "test/plain"]) });
    expect(await get("/api/plain/v1/models/test/plain")).toMatchObject({ name: "test/plain" });
    const counted = await post("/api/plain/v1/count", { model: "test/plain", lines: [{ who: "user", text: "Hi" }] });
    expect(await counted.json()).toEqual({ tokens: expect.any(Number) });
    expect(await get("/api/plain/v1/nowhere")).toMatchObject({ problem: "not_found" });
  });
});

describe("docs/adding-a-dialect.md: a host of the new dialect", () => {
  test("answers clients of another dialect, not streamed", async () => {
    host.play((_request, response) => sendJson(response, HI));
    const answer = await chat("test/plain", { max_completion_tokens: 9, temperature: 1 });
    expect(await answer.json()).toMatchObject({
      model: "test/plain",
      choices: [{ message: { content: "Hi." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });
    expect(JSON.parse(host.seen[0]?.body ?? "")).toEqual({
      model: "there",
      lines: [{ who: "user", text: "Say hi." }],
      most: 9,
    });
    expect(answer.headers.get("x-trivium-dropped")).toBe("temperature");
    expect(await gateway.receipt(answer)).toMatchObject({
      dialect: { client: "chat", upstream: "plain" },
      lane: "translated",
    });
  });

  test("answers clients of another dialect, streamed; a stream that breaks off is an error", async () => {
    host.play((_request, response) =>
      sendEvents(response, { text: "H" }, { text: "i." }, { why: "end", tokens: HI.tokens }),
    );
    const text = await (await chat("test/plain", { stream: true })).text();
    expect(text).toContain('"content":"i."');
    expect(text).toEndWith("data: [DONE]\n\n");
    host.play((_request, response) => sendEvents(response, { text: "H" }));
    const broken = await (await chat("test/plain", { stream: true })).text();
    expect(broken).toContain("upstream_failed");
    expect(broken).not.toContain("[DONE]");
  });

  test("reports failures in the client's dialect", async () => {
    host.play((_request, response) => sendJson(response, { problem: "x", message: "too many lines" }, 400));
    const refused = await chat("test/plain");
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { type: "invalid_request_error", message: "too many lines" } });
  });

  test("law 1: a request survives the round trip through the canon unchanged", () => {
    const request = {
      model: "m",
      lines: [
        { who: "system", text: "a", odd: 1 },
        { who: "model", text: "b" },
      ],
      most: 5,
      mine: [2],
    };
    const context = { upstreamModel: "m", stream: false, traits: { reasoning: false }, origin: "plain-host" };
    const quirks = { media: [], mediaUrls: [], ownUrls: undefined };
    const { body, notes } = plainCodec.encodeRequest(plainCodec.decodeRequest(request), { ...context, quirks });
    expect(body).toEqual(request);
    expect(notes).toEqual([]);
  });
});
