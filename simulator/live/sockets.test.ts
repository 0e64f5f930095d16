import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI, type LiveServerMessage, Modality } from "@google/genai";
import { type Simulator, startSimulator } from "../simulator.ts";

let simulator: Simulator;
const heard: unknown[] = [];
beforeAll(async () => {
  simulator = await startSimulator({
    tokenDelayMs: 0,
    apiKey: "key",
    closed: true,
    onLiveMessage: (one) => heard.push(one),
  });
});
afterAll(() => simulator.stop());

const connect = (path: string, headers: Record<string, string>, protocols: string[] = []): WebSocket =>
  new WebSocket(`${simulator.url.replace("http", "ws")}${path}`, { headers, protocols });

const message = (socket: WebSocket) =>
  new Promise<MessageEvent>((resolve) => socket.addEventListener("message", resolve, { once: true }));
const closed = (socket: WebSocket) =>
  new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve, { once: true }));

describe("live connections over real sockets", () => {
  test("the official SDK of Google talks to the Live host", async () => {
    const google = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: `${simulator.url}/gemini` } });
    const { promise, resolve } = Promise.withResolvers<void>();
    const messages: LiveServerMessage[] = [];
    const session = await google.live.connect({
      model: "live",
      config: { responseModalities: [Modality.TEXT] },
      callbacks: {
        onmessage: (message) => {
          messages.push(message);
          if (message.serverContent?.turnComplete) resolve();
        },
      },
    });
    session.sendClientContent({ turns: "Hello from the SDK" });
    await promise;
    session.close();
    const said = messages.flatMap(({ serverContent }) => serverContent?.modelTurn?.parts ?? []).map(({ text }) => text);
    expect(said.join("")).toContain("Hello from the SDK");
    expect(String(messages.at(-1)?.usageMetadata?.responseTokensDetails?.[0]?.modality)).toBe("TEXT");
  });

  test("the key is in the subprotocol where no header can be set, and the protocol is answered", async () => {
    const socket = connect("/openai/v1/realtime?model=realtime", {}, ["realtime", "openai-insecure-api-key.key"]);
    const { data } = await message(socket);
    expect(JSON.parse(String(data))).toMatchObject({ type: "session.created", session: { model: "realtime" } });
    expect(socket.protocol).toBe("realtime");
    socket.close();
  });

  test("a connection that is cut has no close frame, and none is left open", async () => {
    const socket = connect("/openai/v1/realtime?model=realtime", { authorization: "Bearer key" });
    await message(socket);
    expect(simulator.stats().openRequests).toBeGreaterThan(0);
    const item = { type: "message", role: "user", content: [{ type: "input_text", text: "sim:cut" }] };
    socket.send(JSON.stringify({ type: "conversation.item.create", item }));
    socket.send(JSON.stringify({ type: "response.create" }));
    expect((await closed(socket)).code).toBe(1006);
    expect(heard).toContainEqual({ type: "response.create" });
    while (simulator.stats().openRequests > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(simulator.stats().byModel.realtime).toBe(1);
  });

  test("S19: another key, another path and a page of a browser open nothing", async () => {
    const refused = async (path: string, headers: Record<string, string>) => {
      const upgrade = { upgrade: "websocket", connection: "Upgrade", "sec-websocket-version": "13", ...headers };
      return (await fetch(`${simulator.url}${path}`, { headers: upgrade })).status;
    };
    const key = { authorization: "Bearer key" };
    expect(await refused("/openai/v1/realtime?model=realtime", { authorization: "Bearer other" })).toBe(401);
    expect(await refused("/openai/v1/other", key)).toBe(404);
    expect(await refused("/openai/v1/realtime?model=realtime", { ...key, origin: "https://example.org" })).toBe(403);
    expect(await refused("/openai/v1/realtime?model=fail-429", key)).toBe(429);
    // No handshake: the header Sec-WebSocket-Key is missing.
    expect(await refused("/openai/v1/realtime?model=realtime", key)).toBe(400);
  });
});
