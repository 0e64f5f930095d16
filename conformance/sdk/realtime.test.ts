import { afterAll, describe, expect, test } from "bun:test";
import { GoogleGenAI, type LiveServerMessage, Modality, type Session } from "@google/genai";
import OpenAi from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { eventually } from "../../testing/eventually.ts";
import { live, liveModels, realtime } from "../../testing/live/live-hosts.ts";
import { type LiveHostScript, startLiveHost } from "../support/live-host.ts";
import { startSecureFront } from "../support/secure-front.ts";
import { startTestGateway, TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const host = startLiveHost();
const gateway = await startTestGateway({ config: liveModels(host.url) });

/** The vendor's client only opens `wss:`. */
const front = await startSecureFront(gateway.url);

afterAll(async () => {
  await front.stop();
  await gateway.stop();
  host[Symbol.dispose]();
});

/** Speaks when it is asked to. */
const REALTIME: LiveHostScript = {
  opened: (say) => say(realtime.created()),
  heard: ({ type, session }, say) => {
    if (type === "session.update") say({ ...realtime.created(), type: "session.updated", session });
    if (type !== "response.create") return;
    for (const event of [realtime.began("resp_1"), realtime.text("resp_1", "It is so."), realtime.audio("resp_1", 1)])
      say(event);
    say(realtime.done("resp_1"));
  },
};

const LIVE: LiveHostScript = {
  heard: (message, say) => {
    if (message["setup"] !== undefined) say(live.ready());
    if (message["clientContent"] !== undefined) for (const event of [live.audio(1), live.done()]) say(event);
  },
};

function openRealtime(model: string, apiKey = gateway.key) {
  const client = new OpenAi({ baseURL: `${front.url}/v1`, apiKey });
  const options = { rejectUnauthorized: false, tls: { rejectUnauthorized: false } };
  const socket = new OpenAIRealtimeWS({ model, options }, client);
  const events: { type: string }[] = [];
  const errors: Error[] = [];
  const closed = Promise.withResolvers<number>();
  socket.on("event", (event) => events.push(event));
  socket.on("error", (error) => errors.push(error));
  socket.socket.on("close", (code: number) => closed.resolve(code));
  return { socket, events, errors, closed: closed.promise };
}

const receiptsOf = async (session: unknown) => {
  const answer = await fetch(`${gateway.adminUrl}/api/receipts`, {
    headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}` },
  });
  const { data } = (await answer.json()) as {
    data: { session_id: string | null; cost_nano_usd: number; lane: string }[];
  };
  return data.filter(({ session_id }) => session_id === session);
};

describe("decision 0116: openai's OpenAIRealtimeWS", () => {
  test("a turn at a host of the same protocol, and the receipt that its response names", async () => {
    host.play(REALTIME);
    const { socket, events, errors, closed } = openRealtime("test/realtime");
    await eventually("the session", () => events.some(({ type }) => type === "session.created"));
    socket.send({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } });
    socket.send({ type: "response.create" });
    await eventually("the session", () => events.some(({ type }) => type === "response.done"));
    expect(errors).toEqual([]);
    expect(host.handshakes[0]?.path).toBe("/v1/realtime?model=upstream-live");
    expect(host.handshakes[0]?.headers.get("authorization")).toBe("Bearer upstream-secret-realtime");
    const created = events[0] as unknown as { session_id: string };
    const done = events.find(({ type }) => type === "response.done") as unknown as {
      response: { metadata: { trivium_receipt: string } };
    };
    expect(await receiptsOf(created.session_id)).toMatchObject([
      { id: done.response.metadata.trivium_receipt, lane: "native" },
    ]);
    socket.close();
    expect(await closed).toBe(1000);
    await eventually("the session", () => host.closes.length === 1);
  });

  test("a turn at a host of Live", async () => {
    host.play(LIVE);
    const { socket, events, errors } = openRealtime("test/live");
    await eventually("the session", () => events.some(({ type }) => type === "session.created"));
    socket.send({
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text: "Is it so?" }] },
    });
    socket.send({ type: "response.create" });
    await eventually("the session", () => events.some(({ type }) => type === "response.done"));
    expect(errors).toEqual([]);
    expect(events.filter(({ type }) => type === "response.output_audio.delta").length).toBeGreaterThan(0);
    const created = events[0] as unknown as { session_id: string };
    expect(await receiptsOf(created.session_id)).toMatchObject([{ lane: "translated" }]);
    socket.close();
    await eventually("the session", () => host.closes.length === 1);
  });

  test("a client secret from the SDK opens its model only", async () => {
    host.play(REALTIME);
    const client = new OpenAi({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
    const session = { type: "realtime", model: "test/realtime", instructions: "Be brief." } as const;
    const secret = await client.realtime.clientSecrets.create({
      session,
      expires_after: { anchor: "created_at", seconds: 30 },
    });
    expect(secret.value).toStartWith("ek_");
    const { events, socket } = openRealtime("test/realtime", secret.value);
    await eventually("the session", () => events.some(({ type }) => type === "session.updated"));
    expect(host.events).toEqual([{ type: "session.update", session: { type: "realtime", instructions: "Be brief." } }]);
    socket.close();
    const { errors } = openRealtime("test/live", secret.value);
    await eventually("the session", () => errors.length > 0);
    expect(errors[0]?.message).toMatch(/403/);
  });

  test("an operator sees the session and ends it", async () => {
    host.play(REALTIME);
    const { events, errors, closed } = openRealtime("test/realtime");
    await eventually("the session", () => events.some(({ type }) => type === "session.created"));
    const { session_id } = events[0] as unknown as { session_id: string };
    const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
    const list = await (await fetch(`${gateway.adminUrl}/api/live_sessions`, { headers })).json();
    expect(list).toMatchObject({ data: [{ id: session_id, protocol: "realtime", turns: 0, running: 0 }] });
    const end = () => fetch(`${gateway.adminUrl}/api/live_sessions/${session_id}/end`, { method: "POST", headers });
    expect((await end()).status).toBe(200);
    expect(await closed).toBe(1008);
    expect(errors[0]?.message).toMatch(/operator/);
    await eventually("the session", () => host.closes.length === 1);
    expect((await end()).status).toBe(404);
    const audit = await (await fetch(`${gateway.adminUrl}/api/audit`, { headers })).text();
    expect(audit).toContain("live_session.end");
  });

  test("H26: a client that disappears leaves no connection behind", async () => {
    host.play({
      opened: (say) => say(realtime.created()),
      heard: ({ type }, say) => type === "response.create" && say(realtime.began("resp_9")),
    });
    const { socket, events } = openRealtime("test/realtime");
    await eventually("the session", () => events.some(({ type }) => type === "session.created"));
    socket.send({ type: "response.create" });
    await eventually("the session", () => events.some(({ type }) => type === "response.created"));
    socket.socket.terminate();
    await eventually("the session", () => host.closes.length === 1);
    expect(host.events.at(-1)).toMatchObject({ type: "response.cancel" });
    const created = events[0] as unknown as { session_id: string };
    const receipts = await receiptsOf(created.session_id);
    expect(receipts).toMatchObject([{ outcome: "client_gone" }]);
    expect(receipts[0]?.cost_nano_usd).toBeGreaterThan(0);
  });
});

describe("decision 0116: Google's live.connect", () => {
  const open = async (model: string, baseUrl = gateway.url, apiKey = gateway.key) => {
    const ai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
    const messages: LiveServerMessage[] = [];
    let closed: { code: number; reason: string } | undefined;
    const callbacks = {
      onmessage: (message: LiveServerMessage) => void messages.push(message),
      onclose: ({ code, reason }: { code: number; reason: string }) => {
        closed = { code, reason };
      },
    };
    const session: Session = await ai.live.connect({
      model,
      config: { responseModalities: [Modality.AUDIO] },
      callbacks,
    });
    return { session, messages, closed: () => closed };
  };

  for (const model of ["test/live", "test/realtime"]) {
    test(`a turn with ${model}`, async () => {
      host.play(model === "test/live" ? LIVE : REALTIME);
      const { session, messages } = await open(model);
      session.sendClientContent({ turns: "Is it so?" });
      await eventually("the session", () => messages.some(({ serverContent }) => serverContent?.turnComplete === true));
      expect(messages.some(({ data }) => (data?.length ?? 0) > 1_000)).toBe(true);
      const sessionId = messages.find(({ setupComplete }) => setupComplete)?.setupComplete?.sessionId;
      expect(await receiptsOf(sessionId)).toMatchObject([{ lane: model === "test/live" ? "native" : "translated" }]);
      session.close();
      await eventually("the session", () => host.closes.length === 1);
    });
  }

  test("below the strict base URL, whose slash the SDK repeats", async () => {
    host.play(LIVE);
    const { session } = await open("test/live", `${gateway.url}/api/genai/`);
    session.close();
  });

  test("an unknown model closes the connection with the reason", async () => {
    expect(open("test/none")).rejects.toThrow(/1008.*test\/none/);
  });

  test("a host that hangs up is an end with a code, and a wrong key none at all", async () => {
    host.play({
      heard: (message, say, socket) =>
        message["setup"] === undefined ? socket.close(1011, "Gone.") : say(live.ready()),
    });
    const { session, closed } = await open("test/live");
    session.sendClientContent({ turns: "Is it so?" });
    await eventually("the session", () => closed() !== undefined);
    expect(closed()?.code).toBe(1011);
    expect(open("test/live", gateway.url, "sk-trv-wrong")).rejects.toThrow();
  });
});
