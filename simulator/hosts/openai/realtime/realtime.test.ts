import { describe, expect, test } from "bun:test";
import { isObject, type JsonObject } from "../../../json.ts";
import { decodeG711, encodeG711 } from "../../../live/g711.ts";
import { bytesOf, LiveTester, spoken } from "../../../live/live-tester.sample.ts";
import { thirdOf } from "../../../live/third-of.ts";
import { understand } from "../../../live/understand.ts";
import { firstChannel } from "../../../voice/wav.ts";

const PATH = "/openai/v1/realtime?model=realtime";
const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "Tells the weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const open = (session: object = {}, path = PATH): LiveTester => {
  const client = new LiveTester(path);
  if (Object.keys(session).length > 0)
    client.say({ type: "session.update", session: { type: "realtime", ...session } });
  return client;
};
const MANUAL = { audio: { input: { turn_detection: null } } };
const TEXT = { output_modalities: ["text"] };

const userText = (text: string) => ({
  type: "conversation.item.create",
  item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
});

/** Sends sound in frames of 40 ms, as a microphone does. */
function stream(client: LiveTester, bytes: Buffer, frame = 1_920): void {
  for (let at = 0; at < bytes.length; at += frame)
    client.say({ type: "input_audio_buffer.append", audio: bytes.subarray(at, at + frame).toString("base64") });
}

const silence = (ms: number): Buffer => Buffer.alloc(ms * 48);

const responseOf = (event: JsonObject): JsonObject => (isObject(event.response) ? event.response : {});

async function ask(client: LiveTester, text: string, response: object = {}): Promise<JsonObject> {
  const after = client.events.length;
  client.say(userText(text));
  client.say({ type: "response.create", response });
  return responseOf(await client.type("response.done", after));
}

const soundIn = (client: LiveTester, after = 0): Buffer =>
  Buffer.concat(
    client.events
      .slice(after)
      .filter(({ type }) => type === "response.output_audio.delta")
      .map(({ delta }) => Buffer.from(String(delta), "base64")),
  );

describe("the Realtime host", () => {
  test("a text is answered aloud, and the sound says what the transcript says", async () => {
    const client = open();
    const response = await ask(client, "Hello there");
    const heard = understand(firstChannel(soundIn(client), 1), 24_000);
    expect(heard).toContain("Hello there");
    expect(response).toMatchObject({
      status: "completed",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_audio", transcript: heard }] }],
    });
    const seconds = soundIn(client).length / 48_000;
    expect(response.usage).toMatchObject({
      output_token_details: { audio_tokens: Math.ceil(seconds * 20) },
      input_token_details: { audio_tokens: 0, cached_tokens: 0 },
    });
  });

  test("events arrive in the order of the vendor's guide", async () => {
    const client = open(TEXT);
    await ask(client, "Hi");
    expect([...new Set(client.types)]).toEqual([
      "session.created",
      "session.updated",
      "conversation.item.added",
      "conversation.item.done",
      "response.created",
      "rate_limits.updated",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.done",
    ]);
    expect(new Set(client.events.map(({ event_id }) => event_id)).size).toBe(client.events.length);
  });

  test("server VAD notices speech by its loudness, transcribes it and answers", async () => {
    const client = open({ audio: { input: { transcription: { model: "gpt-4o-transcribe" } } } });
    stream(client, Buffer.concat([silence(1_000), bytesOf(spoken("What time is it?")), silence(700)]));
    const done = responseOf(await client.type("response.done"));
    const started = await client.type("input_audio_buffer.speech_started");
    const stopped = await client.type("input_audio_buffer.speech_stopped");
    expect(Number(started.audio_start_ms)).toBe(700);
    expect(Number(stopped.audio_end_ms)).toBeGreaterThan(1_500);
    const { transcript, item_id, usage } = await client.type("conversation.item.input_audio_transcription.completed");
    expect(transcript).toBe("What time is it?");
    expect(item_id).toBe(started.item_id as string);
    expect(stopped.item_id).toBe(item_id as string);
    const inputMs = Number(stopped.audio_end_ms) - Number(started.audio_start_ms);
    expect(usage).toMatchObject({ type: "tokens", input_tokens: Math.ceil(inputMs / 100) });
    expect(JSON.stringify(done.output)).toContain("What time is it?");
    expect(done.usage).toMatchObject({ input_token_details: { audio_tokens: Math.ceil(inputMs / 100) } });
  });

  test("with create_response off it commits and says nothing, and with semantic_vad it answers", async () => {
    const quiet = open({ audio: { input: { turn_detection: { type: "server_vad", create_response: false } } } });
    const sound = Buffer.concat([bytesOf(spoken("Are you there?")), silence(1_300)]);
    stream(quiet, sound);
    await quiet.type("input_audio_buffer.committed");
    expect(quiet.types).not.toContain("response.created");
    const semantic = open({ audio: { input: { turn_detection: { type: "semantic_vad", eagerness: "low" } } } });
    stream(semantic, sound);
    expect(JSON.stringify(await semantic.type("response.done"))).toContain("Are you there?");
  });

  test("silence alone makes no turn, and of it only the prefix is kept", async () => {
    const client = open();
    stream(client, silence(30_000));
    expect(client.types).toEqual(["session.created"]);
    stream(client, Buffer.concat([bytesOf(spoken("Hi")), silence(700)]));
    const { item_id } = await client.type("input_audio_buffer.committed");
    client.say({ type: "conversation.item.retrieve", item_id });
    const { item } = await client.type("conversation.item.retrieved");
    const [part] = (item as { content: { audio: string }[] }).content;
    const ms = Buffer.from(part?.audio ?? "", "base64").length / 48;
    expect(ms).toBeLessThan(300 + spoken("Hi").length / 24 + 600);
  });

  test("manual turns commit what was appended, in G.711 as well", async () => {
    for (const [type, law] of [
      ["audio/pcmu", "mu"],
      ["audio/pcma", "a"],
    ] as const) {
      const client = open({
        audio: { input: { turn_detection: null, format: { type } }, output: { format: { type } } },
      });
      stream(client, Buffer.from(encodeG711(thirdOf(spoken("Good morning.", 1)), law)), 160);
      client.say({ type: "input_audio_buffer.commit" });
      client.say({ type: "response.create" });
      const done = responseOf(await client.type("response.done"));
      expect(JSON.stringify(done.output)).toContain("Good morning.");
      expect(understand(decodeG711(soundIn(client), law), 8_000)).toContain("Good morning.");
    }
  });

  test("a function is called when the text asks for it, and its result is answered", async () => {
    const client = open({ ...TEXT, tools: [WEATHER] });
    const { output } = await ask(client, "Please call get_weather for Paris");
    expect(output).toMatchObject([{ type: "function_call", name: "get_weather", arguments: '{"city":"Paris"}' }]);
    const { call_id } = (output as JsonObject[])[0] ?? {};
    const after = client.events.length;
    client.say({ type: "conversation.item.create", item: { type: "function_call_output", call_id, output: "sunny" } });
    client.say({ type: "response.create" });
    const done = responseOf(await client.type("response.done", after));
    expect(JSON.stringify(done.output)).toContain("get_weather answered “sunny”");
    client.say({
      type: "conversation.item.create",
      item: { type: "function_call_output", call_id: "other", output: "" },
    });
    expect(client.events.at(-1)).toMatchObject({ error: { code: "invalid_tool_call_id" } });
  });

  test("speech interrupts an answer, which ends as cancelled with what was generated", async () => {
    const client = open();
    client.say(userText("sim:long"));
    client.say({ type: "response.create" });
    await client.type("response.output_audio.delta");
    stream(client, bytesOf(spoken("Stop please")));
    const done = responseOf(await client.type("response.done"));
    expect(done).toMatchObject({
      status: "cancelled",
      status_details: { type: "cancelled", reason: "turn_detected" },
      output: [{ status: "incomplete" }],
    });
    const tokens = Math.ceil(soundIn(client).length / 2_400);
    expect(done.usage).toMatchObject({ output_token_details: { audio_tokens: tokens } });
    expect(client.types.slice(-5)).toEqual([
      "response.output_audio_transcript.done",
      "response.content_part.done",
      "conversation.item.done",
      "response.output_item.done",
      "response.done",
    ]);
  });

  test("response.cancel ends an answer at once, and truncate forgets what was not heard", async () => {
    const client = open();
    client.say(userText("sim:long"));
    client.say({ type: "response.create" });
    const { item_id } = await client.type("response.output_audio.delta");
    client.say({ type: "response.cancel" });
    expect(responseOf(await client.type("response.done")).status_details).toMatchObject({ reason: "client_cancelled" });
    client.say({ type: "response.cancel" });
    expect(client.events.at(-1)).toMatchObject({ error: { code: "response_cancel_not_active" } });
    client.say({ type: "conversation.item.truncate", item_id, content_index: 0, audio_end_ms: 999_999 });
    expect(client.events.at(-1)).toMatchObject({ error: { code: "invalid_value", param: "audio_end_ms" } });
    client.say({ type: "conversation.item.truncate", item_id, content_index: 0, audio_end_ms: 100 });
    expect(client.events.at(-1)).toMatchObject({ type: "conversation.item.truncated", audio_end_ms: 100 });
    client.say({ type: "conversation.item.retrieve", item_id });
    expect(client.events.at(-1)).toMatchObject({ item: { content: [{ transcript: null }] } });
  });

  test("the prompt of the turn before is cached, and a changed one is not", async () => {
    const client = open(TEXT);
    const first = await ask(client, "One");
    const second = await ask(client, "Two");
    const details = (response: JsonObject) =>
      (response.usage as { input_token_details: JsonObject }).input_token_details;
    expect(details(second)).toMatchObject({ cached_tokens: (first.usage as { input_tokens: number }).input_tokens });
    const changed = await ask(client, "Three", { instructions: "Another." });
    expect(details(changed)).toMatchObject({ cached_tokens: 0 });
  });

  test("a response out of band runs next to another, and leaves no trace", async () => {
    const client = open(TEXT);
    client.say(userText("sim:slow Hello"));
    client.say({ type: "response.create" });
    const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: "Classify this" }] }];
    client.say({ type: "response.create", response: { conversation: "none", input, metadata: { topic: "x" } } });
    client.say({ type: "response.create" });
    expect(client.events.at(-1)).toMatchObject({ error: { code: "conversation_already_has_active_response" } });
    const aside = responseOf(
      await client.hears(
        (event) => responseOf(event).conversation_id === null && responseOf(event).status === "completed",
      ),
    );
    expect(aside).toMatchObject({ metadata: { topic: "x" } });
    expect(JSON.stringify(aside.output)).toContain("Classify this");
    await client.hears(
      (event) => responseOf(event).conversation_id !== null && responseOf(event).status === "completed",
    );
    const [item] = aside.output as { id: string }[];
    client.say({ type: "conversation.item.retrieve", item_id: item?.id });
    expect(client.events.at(-1)).toMatchObject({ error: { code: "item_retrieve_invalid_item_id" } });
  });

  test("an answer is cut where it has used its tokens", async () => {
    const done = await ask(open(), "Hello", { max_output_tokens: 20 });
    expect(done).toMatchObject({ status: "incomplete", status_details: { reason: "max_output_tokens" } });
    expect(Number((done.usage as JsonObject).output_tokens)).toBeLessThanOrEqual(20);
  });
});

describe("what the Realtime host refuses", () => {
  const refused: readonly [what: string, event: object | string, error: object][] = [
    ["JSON that cannot be parsed", "{", { code: "invalid_json" }],
    [
      "an unknown event",
      { type: "response.go", event_id: "e1" },
      { code: "invalid_value", param: "type", event_id: "e1" },
    ],
    ["an event without a type", {}, { code: "missing_required_parameter", param: "type" }],
    ["an update without a type", { type: "session.update", session: {} }, { param: "session.type" }],
    [
      "another model",
      { type: "session.update", session: { type: "realtime", model: "gpt-realtime" } },
      { code: "cannot_update_model" },
    ],
    [
      "a field of the beta",
      { type: "session.update", session: { type: "realtime", modalities: ["text"] } },
      { code: "unknown_parameter", param: "session.modalities" },
    ],
    [
      "both modalities",
      { type: "session.update", session: { type: "realtime", output_modalities: ["text", "audio"] } },
      { param: "session.output_modalities" },
    ],
    [
      "another rate",
      {
        type: "session.update",
        session: { type: "realtime", audio: { input: { format: { type: "audio/pcm", rate: 16_000 } } } },
      },
      { param: "session.audio.input.format.rate" },
    ],
    ["half a sample", { type: "input_audio_buffer.append", audio: "AAAA" }, { code: "invalid_value", param: "audio" }],
    [
      "what is not base64",
      { type: "input_audio_buffer.append", audio: "a*b" },
      { code: "invalid_value", param: "audio" },
    ],
    ["an empty buffer", { type: "input_audio_buffer.commit" }, { code: "input_audio_buffer_commit_empty" }],
    ["an unknown item", { type: "conversation.item.delete", item_id: "x" }, { code: "item_delete_invalid_item_id" }],
    ["a place after an unknown item", { ...userText("x"), previous_item_id: "nowhere" }, { param: "previous_item_id" }],
  ];
  for (const [what, event, error] of refused) {
    test(`${what}, and the session goes on`, async () => {
      const client = open(MANUAL);
      client.say(event);
      expect(client.events.at(-1)).toMatchObject({ type: "error", error: { type: "invalid_request_error", ...error } });
      expect(await ask(client, "Still there?", TEXT)).toMatchObject({ status: "completed" });
    });
  }

  test("another voice once it was heard", async () => {
    const client = open({ audio: { output: { voice: "cedar" } } });
    await ask(client, "Hello");
    client.say({ type: "session.update", session: { type: "realtime", audio: { output: { voice: "alloy" } } } });
    expect(client.events.at(-1)).toMatchObject({ error: { code: "cannot_update_voice" } });
  });

  test("wrong keys and models, when the connection is open", () => {
    const wrong = new LiveTester(PATH, { authorization: "Bearer wrong" });
    expect(wrong.events).toMatchObject([{ type: "error", error: { code: "invalid_api_key" } }]);
    expect(wrong.closed).toEqual({ code: 3000, reason: "invalid_request_error.invalid_api_key" });
    const model = open({}, "/openai/v1/realtime?model=gpt-9");
    expect(model.closed).toEqual({ code: 4000, reason: "invalid_request_error.model_not_found" });
    expect(() => new LiveTester(PATH, {})).toThrow("didn't provide an API key");
    expect(() => open({}, "/openai/v1/realtime?model=fail-503")).toThrow("overloaded");
  });
});

describe("client secrets", () => {
  test("open a session with what they say, in the subprotocol that browsers use", async () => {
    const { secrets } = open();
    const made = secrets.create({
      session: { type: "realtime", model: "realtime", instructions: "Be brief.", ...TEXT },
    });
    expect(made).toMatchObject({ session: { instructions: "Be brief." } });
    expect(String(made.value)).toStartWith("ek_");
    const protocols = `realtime, openai-insecure-api-key.${String(made.value)}`;
    const client = new LiveTester("/openai/v1/realtime", { "sec-websocket-protocol": protocols }, secrets);
    expect(client.protocol).toBe("realtime");
    expect(client.events[0]).toMatchObject({ session: { instructions: "Be brief.", output_modalities: ["text"] } });
    const unknown = new LiveTester(PATH, { "sec-websocket-protocol": "realtime, openai-insecure-api-key.ek_other" });
    expect(unknown.closed?.code).toBe(3000);
    expect(() => secrets.create({ expires_after: { anchor: "created_at", seconds: 9 } })).toThrow("9");
  });
});

describe("faults of the Realtime host", () => {
  test("cut and close, in the middle of the answer", async () => {
    const cut = open(TEXT);
    cut.say(userText("sim:cut"));
    cut.say({ type: "response.create" });
    expect(await cut.untilClosed()).toEqual({ code: 1006, reason: "" });
    expect(cut.types).toContain("response.output_text.delta");
    expect(cut.types).not.toContain("response.done");
    const closes = open(TEXT);
    closes.say(userText("sim:close-4321"));
    closes.say({ type: "response.create" });
    expect((await closes.untilClosed()).code).toBe(4321);
  });

  test("silent: nothing more comes until the response is cancelled", async () => {
    const client = open(TEXT);
    client.say(userText("sim:silent"));
    client.say({ type: "response.create" });
    await client.type("response.output_text.delta");
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(client.types).not.toContain("response.done");
    client.say({ type: "response.cancel" });
    expect(responseOf(await client.type("response.done")).status).toBe("cancelled");
  });

  test("garbage, an unknown event, odd parts of audio, wrong usage, and failures", async () => {
    const client = open();
    await ask(client, "sim:garbage sim:unknown-event sim:odd-audio");
    expect(client.frames.some((frame) => String(frame).endsWith('"delta":'))).toBe(true);
    expect(client.types).toContain("response.simulated.progress");
    expect(
      client.events.some(
        ({ type, delta }) =>
          type === "response.output_audio.delta" && Buffer.from(String(delta), "base64").length % 2 === 1,
      ),
    ).toBe(true);
    expect((await ask(client, "sim:no-usage")).usage).toBeNull();
    expect((await ask(client, "sim:zero-usage")).usage).toMatchObject({ output_tokens: 0 });
    expect((await ask(client, "sim:wrong-usage")).usage).toMatchObject({ input_tokens: -5 });
    expect(await ask(client, "sim:busy")).toMatchObject({
      status: "failed",
      status_details: { error: { code: "rate_limit_exceeded" } },
    });
    expect(await ask(client, "sim:fails")).toMatchObject({ status: "failed" });
    expect(await ask(client, "sim:blocked")).toMatchObject({
      status: "incomplete",
      status_details: { reason: "content_filter" },
    });
    await ask(client, "sim:go-away");
    expect(client.closed?.code).toBe(1001);
    expect(client.events.at(-1)).toMatchObject({ error: { code: "session_expired" } });
  });

  test("a word that is spoken asks for a fault, too", async () => {
    const client = open();
    stream(client, Buffer.concat([bytesOf(spoken("sim:fails please")), silence(700)]));
    expect(responseOf(await client.type("response.done")).status).toBe("failed");
  });
});
