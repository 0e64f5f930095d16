import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { AwsEventSplitter } from "../../../../src/wire/aws-event-stream.ts";
import { readFrames } from "../../../../src/wire/sse.ts";
import { DEFAULT_SECRET_ACCESS_KEY, type Simulator, startSimulator } from "../../../simulator.ts";

let simulator: Simulator;
const NOW_MS = Date.parse("2026-11-15T12:00:00Z");

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0, nowMs: () => NOW_MS });
});
afterAll(() => simulator.stop());

const CLAUDE = "us.anthropic.standard-v1:0";
const THINKER = "anthropic.thinker";
const NOVA = "amazon.standard-v1:0";
const said = (text: string) => ({ role: "user", content: [{ text }] });
const TOOL = { toolSpec: { name: "look", inputSchema: { json: { type: "object", properties: {} } } } };

type Json = Record<string, unknown>;

async function send(model: string, operation: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${simulator.url}/bedrock/model/${encodeURIComponent(model)}/${operation}`, {
    method: "POST",
    headers: { authorization: "Bearer any-key", "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
}

const converse = async (model: string, body: object) => {
  const { status, text } = await send(model, "converse", { messages: [said("Hi")], ...body });
  return { status, body: JSON.parse(text) as Json & { message: string } };
};

const framesOf = (bytes: Uint8Array) =>
  readFrames(new AwsEventSplitter().push(bytes)).map(({ event, data }) => ({
    event: event ?? "",
    body: JSON.parse(data ?? "{}") as Json & { delta: Json; contentBlockIndex: number; type: string },
  }));

describe("providers 1.6: Converse", () => {
  test("whole and streamed answers agree; text has no start; every event is padded", async () => {
    const body = { messages: [said("Bonjour à tous 🚀")], inferenceConfig: { maxTokens: 300 } };
    const whole = JSON.parse((await send(NOVA, "converse", body)).text) as Json;
    const streamed = await send(NOVA, "converse-stream", body);
    expect(streamed.headers.get("content-type")).toBe("application/vnd.amazon.eventstream");
    const frames = framesOf(streamed.bytes);
    expect(frames.map(({ event }) => event)).not.toContain("contentBlockStart");
    expect(frames.every(({ body: event }) => typeof event["p"] === "string")).toBe(true);
    const text = frames.map(({ body: event }) => (event.delta?.["text"] as string | undefined) ?? "").join("");
    expect(whole["output"]).toEqual({ message: { role: "assistant", content: [{ text }] } });
    expect(text).toContain("Bonjour à tous 🚀");
    expect(frames.at(-2)).toMatchObject({ event: "messageStop", body: { stopReason: "end_turn" } });
    expect(frames.at(-1)).toMatchObject({ event: "metadata", body: { usage: whole["usage"] } });
  });

  test("no write ends where a frame does", async () => {
    const response = await fetch(`${simulator.url}/bedrock/model/slow/converse-stream`, {
      method: "POST",
      headers: { authorization: "Bearer any-key" },
      body: JSON.stringify({ messages: [said("Hi")], inferenceConfig: { maxTokens: 6 } }),
    });
    const reader = response.body?.getReader();
    let bytes = new Uint8Array();
    const inside: boolean[] = [];
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      bytes = new Uint8Array([...bytes, ...read.value]);
      const splitter = new AwsEventSplitter();
      splitter.push(bytes);
      inside.push(splitter.end() !== "");
    }
    expect(inside.length).toBeGreaterThan(2);
    expect(inside.slice(0, -1)).not.toContain(false);
    expect(inside.at(-1)).toBe(false);
  });

  test("tools: parallel calls with ids, results, and the history's rules", async () => {
    const toolConfig = { tools: [TOOL] };
    const { body } = await converse(CLAUDE, { messages: [said("Call look in parallel, please")], toolConfig });
    const message = (body["output"] as { message: { content: { toolUse: Json }[] } }).message;
    const ids = message.content.map(({ toolUse }) => toolUse["toolUseId"] as string);
    expect(new Set(ids).size).toBe(2);
    expect(body["stopReason"]).toBe("tool_use");
    const results = ids.map((toolUseId) => ({ toolResult: { toolUseId, content: [{ json: { sky: "blue" } }] } }));
    const history = [said("Call look in parallel, please"), message, { role: "user", content: results }];
    const after = await converse(CLAUDE, { messages: history, toolConfig });
    expect(JSON.stringify(after.body)).toContain("blue");
    expect((await converse(CLAUDE, { messages: history })).body.message).toContain("toolConfig field must be defined");
    const half = [history[0], message, { role: "user", content: results.slice(1) }];
    expect((await converse(CLAUDE, { messages: half, toolConfig })).body.message).toContain(
      "Expected toolResult blocks",
    );
  });

  test("thinking is signed, may be redacted, and must come back unaltered", async () => {
    const additionalModelRequestFields = { thinking: { type: "enabled", budget_tokens: 1024 } };
    const question = said("redact this please");
    const { body } = await converse(THINKER, { messages: [question], additionalModelRequestFields });
    const { message } = body["output"] as { message: { content: { reasoningContent: Json }[] } };
    const [shown, redacted] = message.content.map(({ reasoningContent }) => reasoningContent);
    const { reasoningText } = shown as { reasoningText: Json };
    expect(typeof reasoningText["signature"]).toBe("string");
    expect(typeof redacted?.["redactedContent"]).toBe("string");
    const next = (content: unknown[]) =>
      converse(THINKER, { messages: [question, { role: "assistant", content }, said("and?")] });
    expect((await next(message.content)).body.message).toBeUndefined();
    const altered = { reasoningContent: { reasoningText: { ...reasoningText, text: "Something else" } } };
    expect((await next([altered, { text: "x" }])).body.message).toContain("Invalid `signature`");

    const { bytes } = await send(THINKER, "converse-stream", { messages: [question], additionalModelRequestFields });
    const deltas = framesOf(bytes).flatMap(({ body: event }) =>
      event.delta ? [event.delta["reasoningContent"] as Json] : [],
    );
    expect(deltas.flatMap((delta) => (delta ? Object.keys(delta) : []))).toEqual(
      expect.arrayContaining(["text", "signature", "redactedContent"]),
    );
  });

  test("caching by marks, only for Claude; the matched stop sequence on request", async () => {
    const system = [{ text: "A long text ".repeat(50) }, { cachePoint: { type: "default", ttl: "1h" } }];
    const first = (await converse(CLAUDE, { system })).body["usage"] as Record<string, number>;
    const second = (await converse(CLAUDE, { system })).body["usage"] as Record<string, number>;
    expect(first["cacheWriteInputTokens"]).toBeGreaterThan(50);
    expect(first["cacheDetails"] as unknown).toContainEqual({ ttl: "1h", inputTokens: first["cacheWriteInputTokens"] });
    expect(second["cacheReadInputTokens"]).toBe(first["cacheWriteInputTokens"] ?? -1);
    expect(second["totalTokens"]).toBe(first["totalTokens"] ?? -1);
    expect((await converse(NOVA, { system })).body.message).toContain("prompt caching");
    const { body } = await converse(CLAUDE, {
      inferenceConfig: { stopSequences: ["a"] },
      additionalModelResponseFieldPaths: ["/stop_sequence"],
    });
    expect(body).toMatchObject({ stopReason: "stop_sequence", additionalModelResponseFields: { stop_sequence: "a" } });
  });

  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
  const document = (name: string) => ({ document: { format: "txt", name, source: { text: "words" } } });
  const asks = (...content: object[]) => ({ messages: [{ role: "user", content }] });

  test.each([
    ["no messages", { messages: [] }, "must start with a user"],
    ["roles that do not alternate", { messages: [said("a"), said("b")] }, "must alternate"],
    ["blank text", { messages: [said(" ")] }, "is blank"],
    ["an empty message", asks(), "is empty"],
    ["two members in a block", asks({ text: "a", image: {} }), "exactly one member"],
    ["a document's name", asks({ text: "a" }, document("a.txt")), "document file name"],
    ["two documents of one name", asks({ text: "a" }, document("a"), document("a")), "duplicate document names"],
    ["a document without text", asks(document("a")), "text field is required"],
    [
      "an image that is another",
      asks({ text: "a" }, { image: { format: "gif", source: { bytes: png } } }),
      "Could not process",
    ],
    ["a temperature above 1", { inferenceConfig: { temperature: 1.5 } }, "less than or equal to 1"],
    ["an unknown field", { stream: true }, "extraneous key [stream]"],
    ["a model's field of another family", { additionalModelRequestFields: { top_p: 1 } }, "extraneous key [top_p]"],
    [
      "a tool without an object",
      { toolConfig: { tools: [{ toolSpec: { name: "a", inputSchema: { json: {} } } }] } },
      "must be one of the following: object",
    ],
    [
      "a choice of no tool",
      { toolConfig: { tools: [TOOL], toolChoice: { tool: { name: "b" } } } },
      "not in toolConfig",
    ],
    ["a blank stop sequence", { inferenceConfig: { stopSequences: ["\n"] } }, "non-whitespace"],
  ])("refuses %s", async (_what, body, words) => {
    const { status, body: answer } = await converse(CLAUDE, body);
    expect(status).toBe(400);
    expect(answer.message).toContain(words);
  });

  test("an image is looked at, and what is sent whole is described", async () => {
    const { body } = await converse(
      CLAUDE,
      asks({ text: "What?" }, { image: { format: "png", source: { bytes: png } } }),
    );
    expect(JSON.stringify(body)).toContain("1×1 pixels");
  });
});

describe("faults", () => {
  test("statuses and their names", async () => {
    const { status, headers } = await send("fail-429", "converse", { messages: [said("Hi")] });
    expect([status, headers.get("x-amzn-errortype")?.split(":")[0]]).toEqual([429, "ThrottlingException"]);
    expect((await send("fail-529", "converse", { messages: [said("Hi")] })).status).toBe(503);
    expect((await send("nobody", "converse", {})).text).toContain("model identifier is invalid");
  });

  test("exceptions inside a stream, first or later", async () => {
    const events = async (model: string) =>
      framesOf((await send(model, "converse-stream", { messages: [said("Hi")] })).bytes);
    expect(await events("error-first-event")).toMatchObject([
      { event: "exception", body: { type: "throttlingException" } },
    ]);
    const later = await events("error-in-stream");
    expect(later.length).toBeGreaterThan(3);
    expect(later.at(-1)).toMatchObject({ event: "exception", body: { type: "modelStreamErrorException" } });
    expect((await events("drip")).at(-1)?.event).toBe("metadata");
  });
});

describe("InvokeModel for Claude", () => {
  const body = {
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 200,
    messages: [{ role: "user", content: "Hello" }],
  };

  test("the messages API without model and stream, in chunks", async () => {
    const whole = JSON.parse((await send(CLAUDE, "invoke", body)).text) as { content: { text: string }[] };
    const { bytes } = await send(CLAUDE, "invoke-with-response-stream", body);
    const frames = framesOf(bytes);
    expect(frames[0]?.event).toBe("message_start");
    expect(frames.at(-1)).toMatchObject({ event: "message_stop", body: { "amazon-bedrock-invocationMetrics": {} } });
    const text = frames.map(({ body: event }) => (event.delta?.["text"] as string | undefined) ?? "").join("");
    expect(text).toBe(whole.content[0]?.text ?? "nothing");
  });

  test("refusals in the host's own shape", async () => {
    const refusal = async (changes: object) =>
      JSON.parse((await send(CLAUDE, "invoke", { ...body, ...changes })).text) as Json;
    expect(await refusal({ model: "x" })).toEqual({ message: "extraneous key [model] is not permitted" });
    expect(await refusal({ anthropic_version: "2023-06-01" })).toMatchObject({
      message: expect.stringContaining("not a valid version"),
    });
    expect(await refusal({ max_tokens: undefined })).toEqual({ message: "max_tokens: Field required" });
    const image = { type: "image", source: { type: "url", url: "https://x/y.png" } };
    expect(await refusal({ messages: [{ role: "user", content: [image] }] })).toMatchObject({
      message: expect.stringContaining("URL sources are not supported"),
    });
  });
});

describe("authentication", () => {
  /** Signed here step by step, apart from the gateway's own signer. */
  function signed(path: string, body: string, secret: string, moment: string) {
    const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
    const sha = (text: string) => createHash("sha256").update(text).digest("hex");
    const day = moment.slice(0, 8);
    const host = new URL(simulator.url).host;
    const canonical = `POST\n${path.replaceAll("%", "%25")}\n\nhost:${host}\nx-amz-date:${moment}\n\nhost;x-amz-date\n${sha(body)}`;
    const scope = `${day}/us-east-1/bedrock/aws4_request`;
    const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), "us-east-1"), "bedrock"), "aws4_request");
    const signature = hmac(key, `AWS4-HMAC-SHA256\n${moment}\n${scope}\n${sha(canonical)}`).toString("hex");
    return {
      "x-amz-date": moment,
      authorization: `AWS4-HMAC-SHA256 Credential=AKID/${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    };
  }

  test("a signature that covers the request, just now; or a bearer key", async () => {
    const body = { messages: [said("Hi")] };
    const path = `/bedrock/model/${encodeURIComponent(NOVA)}/converse`;
    const sign = (secret: string, moment = "20261115T120000Z") => signed(path, JSON.stringify(body), secret, moment);
    const status = async (headers: Record<string, string>, sent: object = body) =>
      (await send(NOVA, "converse", sent, headers)).status;
    expect(await status(sign(DEFAULT_SECRET_ACCESS_KEY))).toBe(200);
    expect(await status(sign("another secret"))).toBe(403);
    expect(await status(sign(DEFAULT_SECRET_ACCESS_KEY), { messages: [said("Ho")] })).toBe(403);
    expect(await status(sign(DEFAULT_SECRET_ACCESS_KEY, "20261115T115000Z"))).toBe(403);
    expect(await status({ ...sign(DEFAULT_SECRET_ACCESS_KEY), "x-amz-security-token": "unsigned" })).toBe(403);
    expect(await status({ authorization: "Bearer wrong" })).toBe(403);
  });
});

describe("Claude on Vertex", () => {
  const path = "/vertex/v1/projects/p/locations/global/publishers/anthropic/models";
  const body = {
    anthropic_version: "vertex-2023-10-16",
    max_tokens: 200,
    messages: [{ role: "user", content: "Hello" }],
  };
  const call = async (verb: string, changes: object = {}) => {
    const response = await fetch(`${simulator.url}${path}/${verb}`, {
      method: "POST",
      headers: { "x-goog-api-key": "any-key" },
      body: JSON.stringify({ ...body, ...changes }),
    });
    return { status: response.status, text: await response.text() };
  };

  test("whole and streamed, in the messages API's own events", async () => {
    const whole = JSON.parse((await call("claude-standard@20260101:rawPredict")).text) as {
      content: { text: string }[];
    };
    const { text } = await call("claude-standard:streamRawPredict", { stream: true });
    const frames = readFrames(text).map(({ data }) => JSON.parse(data ?? "{}") as { delta?: { text?: string } });
    expect(frames.map(({ delta }) => delta?.text ?? "").join("")).toBe(whole.content[0]?.text ?? "nothing");
    expect(text).toContain("event: message_stop");
  });

  test("refuses what it does not have", async () => {
    expect((await call("claude-standard:rawPredict", { model: "x" })).status).toBe(400);
    expect((await call("claude-standard:rawPredict", { anthropic_version: undefined })).status).toBe(400);
    const format = { type: "json_schema", schema: { type: "object" } };
    expect((await call("claude-standard:rawPredict", { output_config: { format } })).status).toBe(400);
    expect((await call("claude-nobody:rawPredict")).status).toBe(404);
  });
});
