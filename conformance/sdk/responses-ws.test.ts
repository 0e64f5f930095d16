import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAi from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { eventually } from "../../testing/eventually.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";
import { NARROW_KEY, receiptOf, type SimulatedGateway, startSimulatedGateway, WRONG_KEY } from "./support.ts";

type ServerEvent = OpenAi.Responses.ResponsesServerEvent;
type Create = Omit<OpenAi.Responses.ResponsesClientEvent.ResponseCreate, "type">;

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

/** A connection of the SDK, and everything that arrives on it. */
class Socket {
  readonly events: ServerEvent[] = [];
  readonly errors: Error[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly #socket: ResponsesWS;
  #arrived = Promise.withResolvers<void>();

  constructor(url = harness.gateway.url, apiKey = harness.gateway.key) {
    this.#socket = new ResponsesWS(new OpenAi({ baseURL: `${url}/v1`, apiKey }));
    this.#socket.on("event", (event) => {
      this.events.push(event);
      this.#arrive();
    });
    this.#socket.on("error", (error) => {
      this.errors.push(error);
      this.#arrive();
    });
    this.#socket.on("close", (code, reason) => {
      this.closed = { code, reason };
      this.#arrive();
    });
  }

  create(event: Create): void {
    this.#socket.send({ type: "response.create", ...event });
  }

  close(): void {
    this.#socket.close();
  }

  async until<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await this.#arrived.promise;
    }
  }

  hears<Type extends ServerEvent["type"]>(type: Type, after = 0): Promise<Extract<ServerEvent, { type: Type }>> {
    return this.until(
      () => this.events.slice(after).find((event) => event.type === type) as Extract<ServerEvent, { type: Type }>,
    );
  }

  #arrive(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}

describe("decision 0115: openai's ResponsesWS", () => {
  for (const kind of ["openai", "anthropic", "gemini", "bedrock", "openai-compatible"]) {
    test(`a conversation with ${kind}/standard, of which nothing is stored`, async () => {
      const socket = new Socket();
      const model = `${kind}/standard`;
      socket.create({ model, input: "Where do three roads meet?", store: false });
      const { response: first } = await socket.hears("response.completed");
      expect(first.output_text ?? first.output.length).toBeTruthy();
      socket.create({ model, input: "And four?", store: false, previous_response_id: first.id });
      const { response: second } = await socket.hears("response.completed", socket.events.length);
      expect(second.previous_response_id).toBe(first.id);
      expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0);
      const receipt = await receiptOf(harness, second.metadata?.["trivium_receipt"] ?? null);
      expect(receipt.model).toBe(model);
      const [opening] = socket.events as { session_id?: string }[];
      expect(receipt.session_id).toBe(opening?.session_id ?? "");
      socket.close();
    });
  }

  test("a function call and its result, in two turns", async () => {
    const socket = new Socket();
    const model = "anthropic/standard";
    const tools: OpenAi.Responses.Tool[] = [
      {
        type: "function",
        name: "get_weather",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        strict: false,
      },
    ];
    socket.create({ model, tools, store: false, input: "Use the tool get_weather for Lisbon." });
    const { response } = await socket.hears("response.completed");
    const call = response.output.find((item) => item.type === "function_call");
    expect(call?.name).toBe("get_weather");
    socket.create({
      model,
      tools,
      store: false,
      previous_response_id: response.id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "17 degrees" }],
    });
    const done = await socket.hears("response.completed", socket.events.length);
    expect(done.response.status).toBe("completed");
    socket.close();
  });

  test("an unknown model is an error of the SDK, and the connection goes on", async () => {
    const socket = new Socket();
    socket.create({ model: "no/such-model", input: "Hello" });
    const [error] = await socket.until(() => (socket.errors.length > 0 ? socket.errors : undefined));
    expect(error?.message).toContain("no/such-model");
    socket.create({ model: "openai/standard", input: "Hello" });
    await socket.hears("response.completed");
    socket.close();
  });

  test("a wrong key is refused before the upgrade", async () => {
    const answer = await fetch(`${harness.gateway.url}/v1/responses`, {
      headers: {
        authorization: `Bearer ${WRONG_KEY}`,
        upgrade: "websocket",
        connection: "Upgrade",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
      },
    });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { code: "invalid_api_key" } });
    const socket = new Socket(harness.gateway.url, WRONG_KEY);
    await socket.until(() => socket.errors[0] ?? socket.closed);
  });

  test("GET without an upgrade names the request that works", async () => {
    const answer = await fetch(`${harness.gateway.url}/v1/responses`, {
      headers: { authorization: `Bearer ${harness.gateway.key}` },
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, POST");
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining("use POST") } });
  });

  test("turns side by side, one of which the key's limit refuses", async () => {
    const socket = new Socket(harness.gateway.url, NARROW_KEY);
    const turn = { model: "openai/standard", input: "Tell me a long story.", store: false };
    socket.create({ ...turn, stream_id: "a" });
    await socket.hears("response.created");
    socket.create({ ...turn, stream_id: "b" });
    const refused = await socket.hears("error");
    expect(refused).toMatchObject({ stream_id: "b", status: 429 });
    const done = await socket.hears("response.completed");
    expect(done.stream_id).toBe("a");
    socket.close();
  });

  test("metrics count open sessions and turns", async () => {
    const read = async () => {
      const answer = await fetch(`${harness.gateway.adminUrl}/metrics`, {
        headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}` },
      });
      const text = await answer.text();
      const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
      return { sessions: value("trivium_live_sessions"), turns: value("trivium_live_turns_total") };
    };
    const before = await read();
    const socket = new Socket();
    socket.create({ model: "openai/standard", input: "Hello" });
    await socket.hears("response.completed");
    expect(await read()).toEqual({ sessions: before.sessions + 1, turns: before.turns + 1 });
    socket.close();
    await socket.until(() => socket.closed);
    await eventually("the end of the session", async () => (await read()).sessions === before.sessions);
  });
});

test("decision 0115: a gateway that stops tells its clients, lets turns end, and closes with 1001", async () => {
  const own = await startSimulatedGateway({ tokenDelayMs: 10 });
  const idle = new Socket(own.gateway.url);
  const busy = new Socket(own.gateway.url);
  busy.create({ model: "openai/standard", input: "Tell me a long story.", store: false });
  await busy.hears("response.output_text.delta");
  idle.create({ model: "openai/standard", input: "Hello", store: false });
  await idle.hears("response.completed");
  const stopped = own.stop();
  expect(await idle.hears("error")).toMatchObject({ status: 503, error: { code: "draining" } });
  expect(await busy.hears("error")).toMatchObject({ error: { code: "draining" } });
  expect(await idle.until(() => idle.closed)).toMatchObject({ code: 1001 });
  expect(await busy.until(() => busy.closed)).toMatchObject({ code: 1001 });
  await stopped;
});
