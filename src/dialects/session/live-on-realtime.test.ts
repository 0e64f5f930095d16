import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../base/json.ts";
import { live } from "../live/index.ts";
import { realtime } from "../realtime/index.ts";
import { Bridge, liveOnRealtime, typesOf } from "./bridge.sample.ts";

const audio = (ms: number, rate = 16_000) => Buffer.alloc((ms * rate * 2) / 1000, 1).toString("base64");
const speech = (ms: number, rate = 16_000) => ({
  realtimeInput: { audio: { data: audio(ms, rate), mimeType: `audio/pcm;rate=${rate}` } },
});
const created = (id = "resp_1") => ({ type: "response.created", response: { id, status: "in_progress" } });
const delta = (type: string, text: string) => ({
  type: `response.${type}.delta`,
  item_id: "item_1",
  content_index: 0,
  delta: text,
});
const done = (response: object = {}) => ({
  type: "response.done",
  response: { id: "resp_1", status: "completed", ...response },
});
const usage = {
  total_tokens: 160,
  input_tokens: 100,
  output_tokens: 60,
  input_token_details: {
    text_tokens: 30,
    audio_tokens: 70,
    cached_tokens: 20,
    cached_tokens_details: { text_tokens: 5, audio_tokens: 15 },
  },
  output_token_details: { text_tokens: 10, audio_tokens: 50 },
};
const call = (id: string, name = "look") => ({
  type: "response.output_item.done",
  item: { type: "function_call", status: "completed", call_id: id, name, arguments: '{"at":"sky"}' },
});

describe("decision 0118: settings of a Live client on a Realtime host", () => {
  test("the setup becomes an update, and is complete when the host has accepted it", () => {
    const bridge = new Bridge(live, realtime);
    expect(bridge.open()).toMatchObject({ toHost: [], toClient: [] });
    expect(bridge.hears({ type: "session.created", session: { id: "sess_1" } }).toClient).toEqual([]);
    const { toHost } = bridge.says({
      setup: {
        model: "models/a/b",
        generationConfig: {
          responseModalities: ["AUDIO"],
          temperature: 0.5,
          maxOutputTokens: 100,
          topP: 0.9,
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
        },
        systemInstruction: { parts: [{ text: "Be brief." }, { text: "Be kind." }] },
        tools: [
          {
            functionDeclarations: [
              { name: "look", parameters: { type: "OBJECT", properties: { at: { type: "STRING" } } } },
            ],
          },
          { googleSearch: {} },
        ],
        realtimeInputConfig: {
          automaticActivityDetection: { startOfSpeechSensitivity: "START_SENSITIVITY_LOW", silenceDurationMs: 400 },
          activityHandling: "NO_INTERRUPTION",
          turnCoverage: "TURN_INCLUDES_ALL_INPUT",
        },
        inputAudioTranscription: {},
        outputAudioTranscription: {},
        sessionResumption: {},
        contextWindowCompression: { slidingWindow: {} },
        proactivity: { proactiveAudio: true },
      },
    });
    expect(toHost).toEqual([
      {
        type: "session.update",
        session: {
          type: "realtime",
          output_modalities: ["audio"],
          instructions: "Be brief.\n\nBe kind.",
          tools: [
            { type: "function", name: "look", parameters: { type: "object", properties: { at: { type: "string" } } } },
          ],
          max_output_tokens: 100,
          audio: {
            input: {
              transcription: { model: "gpt-4o-mini-transcribe" },
              turn_detection: {
                type: "server_vad",
                threshold: 0.7,
                silence_duration_ms: 400,
                create_response: true,
                interrupt_response: false,
              },
            },
            output: { voice: "shimmer" },
          },
        },
      },
    ]);
    expect(bridge.notes.map(({ path }) => path).sort()).toEqual([
      "setup.generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName",
      "setup.generationConfig.temperature",
      "setup.generationConfig.topP",
      "setup.proactivity",
      "setup.realtimeInputConfig.turnCoverage",
      "setup.sessionResumption",
      "setup.tools[1].googleSearch",
    ]);
    expect(bridge.hears({ type: "session.updated", session: {} }).toClient).toEqual([
      { setupComplete: { sessionId: "ses_1" } },
    ]);
    expect(bridge.hears({ type: "session.updated", session: {} }).toClient).toEqual([]);
  });

  test("snake case, as Python writes it", () => {
    const bridge = new Bridge(live, realtime);
    const setup = {
      model: "models/a",
      system_instruction: { parts: [{ text: "Hi." }] },
      generation_config: { response_modalities: ["TEXT"], max_output_tokens: 5 },
      realtime_input_config: { automatic_activity_detection: { disabled: true } },
    };
    const { toHost } = bridge.says({ setup });
    expect(toHost[0]?.["session"]).toMatchObject({
      instructions: "Hi.",
      output_modalities: ["text"],
      max_output_tokens: 5,
      audio: { input: { turn_detection: null } },
    });
    const { toHost: heard } = bridge.says({
      realtime_input: { audio: { data: audio(100).replaceAll("+", "-").replaceAll("/", "_"), mime_type: "audio/pcm" } },
    });
    expect(typesOf(heard)).toEqual(["input_audio_buffer.append"]);
  });

  test("a refused setup ends the session", () => {
    const bridge = new Bridge(live, realtime);
    bridge.hears({ type: "session.created", session: { id: "sess_1" } });
    bridge.says({ setup: { model: "models/a" } });
    const { events, toClient } = bridge.hears({
      type: "error",
      error: { type: "invalid_request_error", message: "No such voice.", param: "session.audio.output.voice" },
    });
    expect(events).toMatchObject([{ type: "error", fatal: true }]);
    expect(toClient).toMatchObject([{ error: { code: 400, status: "INVALID_ARGUMENT" } }]);
  });

  test.each([
    ["not JSON", "{"],
    ["an empty message", {}],
    ["a second setup", { setup: { model: "models/a" } }],
    ["audio of an unknown rate", { realtimeInput: { audio: { data: "AAAA", mimeType: "audio/pcm;rate=12345" } } }],
    ["audio in a container", { realtimeInput: { audio: { data: "AAAA", mimeType: "audio/mp3" } } }],
    ["audio that is not base64", { realtimeInput: { audio: { data: "*?*?", mimeType: "audio/pcm" } } }],
    ["no results", { toolResponse: {} }],
    ["a field in two spellings", { clientContent: { turnComplete: true, turn_complete: false } }],
  ])("an invalid message is an error and ends the turn that the client waits for: %s", (_, frame) => {
    const { toHost, toClient } = liveOnRealtime().says(frame);
    expect(toHost).toEqual([]);
    expect(toClient).toMatchObject([
      { error: { status: "INVALID_ARGUMENT" } },
      { serverContent: { turnComplete: true } },
    ]);
  });

  test("the first message must be the setup, and a session cannot be resumed", () => {
    const bridge = new Bridge(live, realtime);
    expect(bridge.says({ clientContent: { turnComplete: true } }).toClient).toMatchObject([{ error: { code: 400 } }]);
    const { events } = bridge.says({ setup: { model: "models/a", sessionResumption: { handle: "h" } } });
    expect(events).toMatchObject([{ type: "error", fatal: true, error: { path: "setup.sessionResumption.handle" } }]);
  });
});

describe("decision 0118: turns of a Live client on a Realtime host", () => {
  test("contents become items, and a complete turn a response", () => {
    const bridge = liveOnRealtime();
    const { toHost } = bridge.says({
      clientContent: {
        turns: [
          {
            role: "user",
            parts: [{ text: "Hello." }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }],
          },
          { role: "model", parts: [{ text: "Hi." }] },
          { role: "user", parts: [{ text: "Who?" }] },
        ],
        turnComplete: true,
      },
    });
    expect(typesOf(toHost)).toEqual([
      "conversation.item.create",
      "conversation.item.create",
      "conversation.item.create",
      "response.create",
    ]);
    expect(toHost.map(({ item }) => item)).toMatchObject([
      {
        role: "user",
        content: [
          { type: "input_text", text: "Hello." },
          { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" },
        ],
      },
      { role: "assistant", content: [{ type: "output_text", text: "Hi." }] },
      { role: "user", content: [{ type: "input_text", text: "Who?" }] },
      undefined,
    ] as never);
  });

  test("a response is a turn with its transcript, audio and usage", () => {
    const bridge = liveOnRealtime({ outputAudioTranscription: {} });
    const frames: JsonObject[] = [];
    for (const frame of [
      created(),
      delta("output_audio_transcript", "Good day."),
      delta("output_audio", audio(40, 24_000)),
      done({ usage }),
    ])
      frames.push(...bridge.hears(frame).toClient);
    expect(frames).toMatchObject([
      { serverContent: { outputTranscription: { text: "Good day." } } },
      {
        serverContent: {
          modelTurn: {
            role: "model",
            parts: [{ inlineData: { mimeType: "audio/pcm;rate=24000", data: audio(40, 24_000) } }],
          },
        },
      },
      { serverContent: { generationComplete: true } },
      {
        serverContent: { turnComplete: true },
        usageMetadata: {
          promptTokenCount: 100,
          cachedContentTokenCount: 20,
          responseTokenCount: 60,
          totalTokenCount: 160,
          promptTokensDetails: [
            { modality: "TEXT", tokenCount: 45 },
            { modality: "AUDIO", tokenCount: 55 },
          ],
          responseTokensDetails: [
            { modality: "TEXT", tokenCount: 10 },
            { modality: "AUDIO", tokenCount: 50 },
          ],
        },
      },
    ]);
  });

  test("a client that asked for no transcripts gets none", () => {
    const bridge = liveOnRealtime();
    bridge.hears(created());
    expect(bridge.hears(delta("output_audio_transcript", "Good day.")).toClient).toEqual([]);
    expect(
      bridge.hears({ type: "conversation.item.input_audio_transcription.delta", item_id: "i", delta: "x" }).toClient,
    ).toEqual([]);
  });

  test("audio is sent at 24 kHz, from any rate", () => {
    const bridge = liveOnRealtime();
    for (const rate of [16_000, 24_000, 48_000]) {
      bridge.says(speech(100, rate));
      const [frame] = bridge.says(speech(100, rate)).toHost;
      expect(frame).toMatchObject({ type: "input_audio_buffer.append" });
      expect(Math.abs(Buffer.from(String(frame?.["audio"]), "base64").length - 4800)).toBeLessThanOrEqual(4);
    }
  });

  test("calls are one message, and the model continues when all have a result", () => {
    const bridge = liveOnRealtime();
    bridge.hears(created());
    expect(bridge.hears(call("1")).toClient).toEqual([]);
    bridge.hears(call("2", "hear"));
    expect(bridge.hears(done({ usage })).toClient).toMatchObject([
      {
        toolCall: {
          functionCalls: [
            { id: "1", name: "look", args: { at: "sky" } },
            { id: "2", name: "hear" },
          ],
        },
        usageMetadata: { totalTokenCount: 160 },
      },
    ]);
    const result = (id: string) => ({
      toolResponse: { functionResponses: [{ id, name: "look", response: { output: "Blue." } }] },
    });
    expect(typesOf(bridge.says(result("1")).toHost)).toEqual(["conversation.item.create"]);
    const { toHost } = bridge.says(result("2"));
    expect(toHost).toMatchObject([
      { item: { type: "function_call_output", call_id: "2", output: "Blue." } },
      { type: "response.create" },
    ]);
  });

  test("speech while the model is heard interrupts it, and takes back what was not played", () => {
    const bridge = liveOnRealtime();
    bridge.hears(created());
    bridge.hears(delta("output_audio", audio(2000, 24_000)));
    bridge.hears(done({ usage }));
    bridge.nowMs = 700;
    const { toHost, toClient } = bridge.hears({
      type: "input_audio_buffer.speech_started",
      item_id: "item_2",
      audio_start_ms: 5,
    });
    expect(toHost).toEqual([
      { type: "conversation.item.truncate", item_id: "item_1", content_index: 0, audio_end_ms: 700 },
    ]);
    expect(toClient).toEqual([{ serverContent: { interrupted: true } }]);
    bridge.hears(created());
    bridge.hears(delta("output_audio", audio(100, 24_000)));
    bridge.hears(done({ usage }));
    bridge.nowMs = 60_000;
    expect(bridge.hears({ type: "input_audio_buffer.speech_started", item_id: "item_3" })).toMatchObject({
      toHost: [],
      toClient: [],
    });
  });

  test("an interrupted turn ends once, interrupted", () => {
    const bridge = liveOnRealtime();
    bridge.hears(created());
    bridge.hears(delta("output_audio", audio(2000, 24_000)));
    const frames = [
      ...bridge.hears({ type: "input_audio_buffer.speech_started", item_id: "item_2" }).toClient,
      ...bridge.hears(
        done({ status: "cancelled", status_details: { type: "cancelled", reason: "turn_detected" }, usage }),
      ).toClient,
    ];
    expect(frames).toMatchObject([
      { serverContent: { interrupted: true } },
      { serverContent: { turnComplete: true }, usageMetadata: { totalTokenCount: 160 } },
    ]);
  });

  test("without detection, the client's activity is committed and answered", () => {
    const bridge = liveOnRealtime({ realtimeInputConfig: { automaticActivityDetection: { disabled: true } } });
    bridge.says({ realtimeInput: { activityStart: {} } });
    bridge.says(speech(200));
    expect(
      typesOf(bridge.says({ realtimeInput: { activityEnd: {} } }).toHost).filter(
        (type) => type !== "input_audio_buffer.append",
      ),
    ).toEqual(["input_audio_buffer.commit", "response.create"]);
    // The host rejects a commit without audio.
    expect(bridge.says({ realtimeInput: { activityStart: {}, activityEnd: {} } }).toHost).toEqual([]);
  });

  test("the end of the stream is silence, so that the host takes the user to have finished", () => {
    const { toHost } = liveOnRealtime().says({ realtimeInput: { audioStreamEnd: true } });
    expect(toHost).toMatchObject([{ type: "input_audio_buffer.append" }]);
    expect(Buffer.from(String(toHost[0]?.["audio"]), "base64").every((byte) => byte === 0)).toBe(true);
  });

  test("typed text interrupts a turn and is answered after it", () => {
    const bridge = liveOnRealtime();
    bridge.hears(created());
    expect(typesOf(bridge.says({ realtimeInput: { text: "Stop!" } }).toHost)).toEqual([
      "conversation.item.create",
      "response.cancel",
    ]);
    expect(typesOf(bridge.hears(done({ status: "cancelled" })).toHost)).toEqual(["response.create"]);
  });

  test("the last frame of video is an image before the turn", () => {
    const bridge = liveOnRealtime();
    for (const data of ["AAAA", "BBBB"]) bridge.says({ realtimeInput: { video: { mimeType: "image/jpeg", data } } });
    const { toHost } = bridge.says({ clientContent: { turnComplete: true } });
    expect(toHost).toMatchObject([
      { item: { content: [{ type: "input_image", image_url: "data:image/jpeg;base64,BBBB" }] } },
      { type: "response.create" },
    ]);
    expect(bridge.notes).toMatchObject([{ path: "realtimeInput.video", action: "approximated" }]);
  });

  test.each([
    [
      { status: "incomplete", status_details: { type: "incomplete", reason: "content_filter" } },
      [
        { serverContent: { generationComplete: true } },
        { serverContent: { turnComplete: true, turnCompleteReason: "GENERATED_CONTENT_SAFETY" } },
      ],
    ],
    [
      { status: "incomplete", status_details: { type: "incomplete", reason: "max_output_tokens" } },
      [{ serverContent: { generationComplete: true } }, { serverContent: { turnComplete: true } }],
    ],
    [
      { status: "failed", status_details: { type: "failed", error: { type: "server_error", message: "No." } } },
      [
        { serverContent: { generationComplete: true } },
        { error: {} },
        { serverContent: { turnComplete: true, turnCompleteReason: "RESPONSE_REJECTED" } },
      ],
    ],
  ] as const)("a response that ends with %j", (response, frames) => {
    const bridge = liveOnRealtime();
    bridge.hears(created());
    expect(bridge.hears(done(response)).toClient).toMatchObject(frames as never);
  });

  test("the calls of an interrupted response are not made, and do not hold up later results", () => {
    const bridge = liveOnRealtime();
    bridge.hears(created());
    bridge.hears(call("1"));
    const { toClient } = bridge.hears(done({ status: "cancelled", status_details: { reason: "turn_detected" } }));
    expect(JSON.stringify(toClient)).not.toContain("functionCalls");
    bridge.hears(created("resp_2"));
    bridge.hears(call("2"));
    bridge.hears(done({ id: "resp_2" }));
    const { toHost } = bridge.says({ toolResponse: { functionResponses: [{ id: "2", name: "look", response: {} }] } });
    expect(typesOf(toHost)).toEqual(["conversation.item.create", "response.create"]);
  });

  test("draining is the protocol's notice", () => {
    expect(liveOnRealtime().client.encodeGoingAway(9500)).toEqual(['{"goAway":{"timeLeft":"9.5s"}}']);
  });
});
