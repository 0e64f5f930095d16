import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import type { LiveEvent } from "../../canon/live.ts";
import { live } from "../live/index.ts";
import { DEFAULT_LIVE_QUIRKS } from "../live/quirks.ts";
import type { LiveDialect } from "../live-dialect.ts";
import { realtime } from "../realtime/index.ts";

const DATA = Buffer.from(new Uint8Array(1001).map((_, at) => at)).toString("base64");
const append = { type: "input_audio_buffer.append", audio: DATA };
const delta = {
  type: "response.output_audio.delta",
  event_id: "e",
  response_id: "r",
  item_id: "i",
  output_index: 0,
  content_index: 0,
  delta: DATA,
};
const blob = { data: DATA, mimeType: "audio/pcm;rate=16000" };
const content = {
  serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: "audio/pcm;rate=24000", data: DATA } }] } },
};
const spaced = (value: object) => JSON.stringify(value).replaceAll('":', '": ').replaceAll(',"', ', "');

describe("decision 0118: frames of audio are recognised by their whole form", () => {
  test.each([
    ["realtime", "in", JSON.stringify(append)],
    ["realtime", "in", spaced(append)],
    ["realtime", "in", JSON.stringify({ event_id: "e", ...append })],
    ["realtime", "in", JSON.stringify({ ...append, event_id: "e" })],
    ["realtime", "in", JSON.stringify({ audio: DATA, type: "input_audio_buffer.append" })],
    ["realtime", "out", JSON.stringify(delta)],
    ["realtime", "out", JSON.stringify({ ...delta, type: "response.audio.delta" })],
    ["realtime", "out", spaced({ obfuscation: "x", ...delta })],
    ["live", "in", JSON.stringify({ realtimeInput: { audio: blob } })],
    ["live", "in", spaced({ realtime_input: { media_chunks: [{ mime_type: blob.mimeType, data: DATA }] } })],
    ["live", "out", JSON.stringify(content)],
    ["live", "out", JSON.stringify(content, null, 2)],
  ] as const)("%s, %s, form %#", (name, direction, frame) => {
    const dialect = name === "realtime" ? realtime : live;
    const bytesOf = direction === "in" ? dialect.audioBytesIn : dialect.audioBytesOut;
    expect(bytesOf(frame)).toBe(1001);
    expect(bytesOf(Buffer.from(`x${frame}`).subarray(1))).toBe(1001);
  });

  test.each([
    ["another event", { type: "input_audio_buffer.commit" }],
    ["a repeated type", `{"type":"input_audio_buffer.append","audio":"AAAA","type":"session.update","session":{}}`],
    ["a repeated type before", `{"type":"session.update","type":"input_audio_buffer.append","audio":"AAAA"}`],
    ["a field more", { ...append, session: { model: "x" } }],
    ["an escaped quote", `{"type":"input_audio_buffer.append","audio":"AAAA\\","session":{},"x":""}`],
    ["a frame that is cut off", JSON.stringify(append).slice(0, -1)],
    ["two frames", JSON.stringify(append) + JSON.stringify(append)],
    ["an event id with an escape", `{"type":"input_audio_buffer.append","event_id":"\\"","audio":"AAAA"}`],
    ["more than audio", { realtimeInput: { audio: blob, text: "hello" } }],
    ["a picture", { realtimeInput: { video: { data: DATA, mimeType: "image/png" } } }],
    ["two chunks", { realtimeInput: { mediaChunks: [blob, blob] } }],
    ["usage beside the audio", { ...content, usageMetadata: { promptTokenCount: 1 } }],
    ["nothing", ""],
  ])("S15: %s is parsed", (_, frame) => {
    const text = typeof frame === "string" ? frame : JSON.stringify(frame);
    for (const dialect of [realtime, live]) {
      expect(dialect.audioBytesIn(text)).toBeUndefined();
      expect(dialect.audioBytesOut(text)).toBeUndefined();
      expect(dialect.audioBytesIn(Buffer.from(text))).toBeUndefined();
    }
  });
});

describe("S15: a client's frame means one thing", () => {
  test.each([
    ["a repeated key", '{"type":"session.update","session":{},"session":{"model":"x"}}', "session"],
    ["a repeated key inside", '{"type":"session.update","session":{"model":"x","model":"y"}}', "session.model"],
    ["deep nesting", `{"type":"session.update","session":${"[".repeat(400)}${"]".repeat(400)}}`, undefined],
  ])("%s is refused", (_, frame, path) => {
    const context = { sessionId: "s", model: "m", expiresAtSeconds: 0, makeId: () => "1" };
    for (const dialect of [realtime, live])
      expect(dialect.client(context).decode(frame)).toMatchObject([
        { type: "invalid", error: path === undefined ? {} : { path } },
      ]);
  });
});

test("decision 0118: in a native session the host checks the fields, and turns still begin", () => {
  const context = { sessionId: "s", model: "m", expiresAtSeconds: 0, makeId: () => "1", native: true };
  const [client, other] = [realtime.client(context), live.client(context)];
  const format = { type: "session.update", session: { audio: { input: { format: { type: "audio/opus" } } } } };
  expect(client.decode(JSON.stringify(format))).toMatchObject([{ type: "unknown", name: "session.update" }]);
  const request = { type: "response.create", event_id: "e", response: { output_modalities: ["smell"] } };
  expect(client.decode(JSON.stringify(request))).toMatchObject([{ type: "respond", eventId: "e" }]);
  expect(client.decode("{")).toMatchObject([{ type: "invalid" }]);
  other.decode('{"setup":{"model":"models/m"}}');
  const audio = { realtimeInput: { audio: { data: "AAAA", mimeType: "audio/opus" } } };
  expect(other.decode(JSON.stringify(audio))).toMatchObject([{ type: "unknown" }]);
  expect(other.decode('{"toolResponse":{}}')).toMatchObject([{ type: "respond", cause: "results" }]);
  const decoded = (content: object) => other.decode(JSON.stringify({ ...audio, ...content }));
  expect(decoded({ client_content: { turn_complete: true } })).toMatchObject([{ type: "respond", cause: "asked" }]);
  expect(decoded({ clientContent: {} })).toMatchObject([{ type: "unknown", name: "realtimeInput" }]);
  const twice = { clientContent: { turn_complete: true, turnComplete: true } };
  expect(other.decode(JSON.stringify(twice))).toMatchObject([{ type: "respond", cause: "asked" }]);
  expect(other.decode('{"setup":{}}')).toMatchObject([{ type: "invalid" }]);
});

describe("decision 0118: what must be checked in a client's frame", () => {
  test("a session's model, hosted tools, transcription and stored prompt", () => {
    const session = {
      type: "realtime",
      model: "other",
      prompt: { id: "pmpt_1" },
      tools: [{ type: "function", name: "f" }, { type: "mcp", server_label: "a" }, { type: "new_tool" }],
      audio: { input: { transcription: { model: "whisper-1" } } },
    };
    expect(realtime.check(JSON.stringify({ type: "session.update", session }))).toEqual({
      model: "other",
      billables: [
        { kind: "tool", name: "mcp", path: "session.tools[1].type", crossesAs: "mcp" },
        { kind: "tool", name: "new_tool", path: "session.tools[2].type" },
        { kind: "tool", name: "transcription:whisper-1", path: "session.audio.input.transcription.model" },
        { kind: "tool", name: "prompt", path: "session.prompt" },
      ],
    });
    const response = { type: "response.create", response: { tools: [{ type: "mcp" }] } };
    expect(realtime.check(JSON.stringify(response))?.billables).toMatchObject([{ path: "response.tools[0].type" }]);
    expect(realtime.check(JSON.stringify({ type: "response.create" }))).toBeUndefined();
  });

  test("a setup's model and tools, in either spelling, and those of an update", () => {
    const setup = { model: "models/other", tools: [{ function_declarations: [] }, { google_search: {} }] };
    const googleSearch = { kind: "tool", name: "googleSearch", crossesAs: "web_search" };
    expect(live.check(JSON.stringify({ setup }))).toEqual({
      model: "other",
      billables: [{ ...googleSearch, path: "setup.tools[1].googleSearch" }],
    } as never);
    const update = { context_update: { tools: { tools: [{ googleSearch: {} }] } } };
    expect(live.check(JSON.stringify(update))).toEqual({
      billables: [{ ...googleSearch, path: "contextUpdate.tools.tools[0].googleSearch" }],
    } as never);
    expect(live.check(JSON.stringify({ clientContent: {} }))).toBeUndefined();
  });
});

describe("decision 0118: native frames change only where they must", () => {
  test("H05: the model's name, in place", () => {
    const update = '{ "type":"session.update", "session":{ "model" : "a/b", "n":1.0 } }';
    expect(realtime.nativeCommand(update, "host")).toBe(update.replace('"a/b"', '"host"'));
    const setup = '{"setup":{"model": "models/a/b","x":1.0}}';
    expect(live.nativeCommand(setup, "host")).toBe(setup.replace("models/a/b", "models/host"));
    for (const frame of ['{"type":"response.create"}', '{"type":"session.update","session":{"instructions":"model"}}'])
      expect(realtime.nativeCommand(frame, "host")).toBe(frame);
  });

  test("S15: a repeated model is replaced everywhere", () => {
    const update = '{"type":"session.update","session":{"model":"x","model":"a/b"}}';
    expect(realtime.nativeCommand(update, "host")).not.toContain("a/b");
    expect(realtime.nativeCommand(update, "host")).not.toContain('"x"');
    const setup = '{"setup":{"model":"models/x","model":"models/a/b"}}';
    expect(live.nativeCommand(setup, "host")).toBe('{"setup":{"model":"models/host","model":"models/host"}}');
  });

  test("the session's id, the client's model and the receipt", () => {
    const created = '{"type":"session.created","session":{"id":"s","model":"host"}}';
    expect(JSON.parse(realtime.nativeEvent(created, { sessionId: "ses_1", model: "a/b" }))).toEqual({
      session_id: "ses_1",
      type: "session.created",
      session: { id: "s", model: "a/b" },
    });
    for (const metadata of [null, { mine: "1" }]) {
      const done = { type: "response.done", event_id: "e", response: { id: "r", metadata } };
      expect(JSON.parse(realtime.nativeEvent(JSON.stringify(done), { receipt: "rcp_1" }))).toEqual({
        ...done,
        response: { id: "r", metadata: { ...metadata, trivium_receipt: "rcp_1" } },
      });
    }
    const text = '{"type":"response.output_text.delta","delta":"\\"type\\":\\"response.done\\""}';
    expect(realtime.nativeEvent(text, { receipt: "rcp_1", model: "a/b" })).toBe(text);
    expect(live.nativeEvent('{"setupComplete":{}}', { sessionId: "ses_1" })).toBe(
      '{"setupComplete":{"sessionId":"ses_1"}}',
    );
    expect(live.nativeEvent('{"serverContent":{}}', { sessionId: "ses_1" })).toBe('{"serverContent":{}}');
  });

  test("a close has a code and a reason that fits its frame", () => {
    const { code, reason } = live.close(new GatewayError("budget_exhausted", "ü".repeat(100)));
    expect(code).toBe(1008);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    expect(reason).toMatch(/^ü+…$/);
    expect(realtime.close(new GatewayError("upstream_failed", "No."))).toEqual({ code: 1011, reason: "No." });
  });
});

describe("decision 0118: the tap of a native session", () => {
  const tapOf = (dialect: LiveDialect) => {
    let made = 0;
    const makeId = () => `${++made}`;
    const context = {
      upstreamModel: "m",
      traits: { reasoning: false },
      quirks: DEFAULT_LIVE_QUIRKS,
      makeId,
      nowMs: () => 0,
    };
    return dialect.upstream({ ...context, clientDialect: dialect.name });
  };
  const typesOf = (events: readonly LiveEvent[]) => events.map(({ type }) => type);

  test("a Live turn begins with its first audio, and is asked for if the client did", () => {
    const tap = tapOf(live);
    expect(tap.decode('{"setupComplete":{"sessionId":"s"}}').events).toMatchObject([{ type: "ready", id: "s" }]);
    expect(tap.passAudio(100)).toMatchObject([{ type: "turn-began", cause: "detected" }]);
    expect(tap.passAudio(100)).toEqual([]);
    const end = tap.decode(
      '{"serverContent":{"turnComplete":true},"usageMetadata":{"promptTokenCount":1,"totalTokenCount":3}}',
    );
    expect(end.events).toMatchObject([{ type: "turn-ended", status: "completed", usage: { input: 1, output: 2 } }]);
    tap.follow({ type: "respond", cause: "asked" });
    expect(tap.passAudio(100)).toMatchObject([{ type: "turn-began", cause: "asked" }]);
    expect(tap.turnId).toBeDefined();
  });

  test("Realtime responses may overlap, and each ends with its own usage", () => {
    const tap = tapOf(realtime);
    const created = (id: string) => tap.decode(JSON.stringify({ type: "response.created", response: { id } })).events;
    const done = (id: string) =>
      tap.decode(
        JSON.stringify({
          type: "response.done",
          response: { id, status: "completed", usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 } },
        }),
      ).events;
    tap.follow({ type: "respond", cause: "asked" });
    expect(created("a")).toMatchObject([{ type: "turn-began", id: "a", cause: "asked" }]);
    expect(created("b")).toMatchObject([{ type: "turn-began", id: "b", cause: "detected" }]);
    expect(done("a")).toMatchObject([{ type: "turn-ended", id: "a", usage: { input: 3, output: 1 } }]);
    expect(tap.turnId).toBe("b");
    expect(typesOf(done("c"))).toEqual(["turn-began", "turn-ended"]);
  });

  test("the calls of a remote server's tools are counted", () => {
    const tap = tapOf(realtime);
    tap.decode('{"type":"response.created","response":{"id":"a"}}');
    tap.decode('{"type":"response.output_item.done","item":{"type":"mcp_call","id":"m"}}');
    expect(tap.decode('{"type":"response.done","response":{"id":"a","status":"completed"}}').events).toMatchObject([
      { usage: { tools: { mcp: 1 } } },
    ]);
  });

  test("searches of a Live host are counted, and unknown events are named", () => {
    const tap = tapOf(live);
    tap.decode(
      '{"serverContent":{"modelTurn":{"parts":[{"text":"a"}]},"groundingMetadata":{"webSearchQueries":["a","b"]}}}',
    );
    const { events } = tap.decode(
      '{"serverContent":{"turnComplete":true},"usageMetadata":{"promptTokenCount":1,"totalTokenCount":1}}',
    );
    expect(events).toMatchObject([{ usage: { searches: 2 } }]);
    expect(tap.decode('{"newThing":{}}').events).toEqual([{ type: "unknown", name: "newThing" }]);
    expect(tapOf(realtime).decode('{"type":"new.thing"}').events).toEqual([{ type: "unknown", name: "new.thing" }]);
  });
});
