import { describe, expect, test } from "bun:test";
import { type JsonObject, objectAt } from "../../base/json.ts";
import { live } from "../live/index.ts";
import { realtime } from "../realtime/index.ts";
import { Bridge, realtimeOnLive, typesOf } from "./bridge.sample.ts";

const audio = (ms: number, rate = 24_000) => Buffer.alloc((ms * rate * 2) / 1000, 1).toString("base64");
const message = (text: string, role = "user", id = `item_${text}`) => ({
  type: "conversation.item.create",
  item: { id, type: "message", role, content: [{ type: role === "assistant" ? "output_text" : "input_text", text }] },
});
const said = (parts: object[]) => ({ serverContent: { modelTurn: { parts } } });
const sound = (ms: number) => ({ inlineData: { mimeType: "audio/pcm;rate=24000", data: audio(ms) } });
const ended = {
  serverContent: { turnComplete: true },
  usageMetadata: { promptTokenCount: 10, responseTokenCount: 5, totalTokenCount: 15 },
};

/** A session in which the host has confirmed its setup, with the settings. */
function begun(session: object = {}, options = {}): Bridge {
  const bridge = realtimeOnLive(options);
  bridge.says({ type: "session.update", session: { type: "realtime", ...session } });
  return bridge;
}

describe("decision 0118: settings of a Realtime client on a Live host", () => {
  test("the session exists at once, with an id that the gateway knows", () => {
    const [created, ...more] = new Bridge(realtime, live).open().toClient;
    expect(more).toEqual([]);
    expect(created).toMatchObject({
      type: "session.created",
      session_id: "ses_1",
      session: { type: "realtime", object: "realtime.session", id: "ses_1", model: "a/b", expires_at: 3300 },
    });
  });

  test("updates before the first turn are merged into one setup", () => {
    const bridge = realtimeOnLive();
    const session = {
      type: "realtime",
      instructions: "Be brief.",
      audio: { output: { voice: "marin" }, input: { transcription: { model: "whisper-1" } } },
      max_output_tokens: 200,
    };
    const first = bridge.says({ type: "session.update", event_id: "mine", session });
    expect(first.toHost).toEqual([]);
    expect(first.toClient).toMatchObject([{ type: "session.updated", session: { instructions: "Be brief." } }]);
    const tools = [
      {
        type: "function",
        name: "look",
        description: "Looks.",
        parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
      },
    ];
    bridge.says({ type: "session.update", session: { type: "realtime", tools, tool_choice: "auto" } });
    const { toHost } = bridge.says({ type: "response.create" });
    expect(toHost).toEqual([
      {
        setup: {
          model: "models/host-model",
          generationConfig: {
            maxOutputTokens: 200,
            responseModalities: ["AUDIO"],
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Sulafat" } } },
          },
          systemInstruction: { parts: [{ text: "Be brief." }] },
          tools: [
            {
              functionDeclarations: [
                {
                  name: "look",
                  description: "Looks.",
                  parameters: { type: "OBJECT", properties: { at: { type: "STRING" } }, required: ["at"] },
                },
              ],
            },
          ],
          inputAudioTranscription: {},
          outputAudioTranscription: {},
          contextWindowCompression: { slidingWindow: {} },
        },
      },
    ]);
    expect(bridge.hears({ setupComplete: {} }).toHost).toEqual([{ clientContent: { turnComplete: true } }]);
    expect(bridge.notes).toEqual([
      { path: "session.audio.output.voice", action: "approximated", reason: expect.stringContaining("Sulafat") },
      { path: "session.audio.input.transcription.model", action: "dropped", reason: expect.any(String) },
    ]);
  });

  test.each([
    [
      { type: "server_vad", threshold: 0.8, prefix_padding_ms: 200, silence_duration_ms: 700 },
      {
        automaticActivityDetection: {
          startOfSpeechSensitivity: "START_SENSITIVITY_LOW",
          prefixPaddingMs: 200,
          silenceDurationMs: 700,
        },
      },
      ["threshold"],
    ],
    [
      { type: "server_vad", interrupt_response: false },
      { automaticActivityDetection: {}, activityHandling: "NO_INTERRUPTION" },
      [],
    ],
    [
      { type: "server_vad", create_response: false },
      { automaticActivityDetection: { disabled: true } },
      ["create_response"],
    ],
    [{ type: "server_vad", idle_timeout_ms: 5000 }, { automaticActivityDetection: {} }, ["idle_timeout_ms"]],
    [
      { type: "semantic_vad", eagerness: "high" },
      { automaticActivityDetection: { endOfSpeechSensitivity: "END_SENSITIVITY_HIGH" } },
      ["type"],
    ],
    [null, { automaticActivityDetection: { disabled: true } }, []],
  ] as const)("turn detection %j", (turn_detection, realtimeInputConfig, noted) => {
    const bridge = begun({ audio: { input: { turn_detection } } });
    const [first] = bridge.says({ type: "response.create" }).toHost;
    expect(first?.["setup"]).toMatchObject({ realtimeInputConfig });
    expect(bridge.notes.map(({ path }) => path)).toEqual(
      noted.map((name) => `session.audio.input.turn_detection.${name}`),
    );
  });

  test("what has no counterpart is noted with its path", () => {
    const bridge = begun({
      tracing: "auto",
      include: ["item.input_audio_transcription.logprobs"],
      prompt: { id: "pmpt_1" },
      truncation: { type: "retention_ratio", retention_ratio: 0.8 },
      parallel_tool_calls: false,
      reasoning: { effort: "high" },
      tools: [{ type: "mcp", server_label: "a", server_url: "https://example.com", require_approval: "never" }],
      tool_choice: "required",
      audio: { input: { noise_reduction: { type: "near_field" } }, output: { voice: "nobody", speed: 1.5 } },
      later: 1,
    });
    bridge.says({ type: "response.create" });
    expect(bridge.notes.map(({ path }) => path).sort()).toEqual([
      "session.audio.input.noise_reduction",
      "session.audio.output.speed",
      "session.audio.output.voice",
      "session.include",
      "session.later",
      "session.parallel_tool_calls",
      "session.prompt",
      "session.reasoning.effort",
      "session.tool_choice",
      "session.tools[0]",
      "session.tracing",
      "session.truncation",
    ]);
  });

  test("after the first turn, a change is an error and a repetition is not", () => {
    const bridge = begun({ instructions: "Be brief." });
    bridge.says({ type: "response.create" });
    const again = bridge.says({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } });
    expect(typesOf(again.toClient)).toEqual(["session.updated"]);
    const { toHost, toClient } = bridge.says({
      type: "session.update",
      event_id: "mine",
      session: { type: "realtime", instructions: "Be long." },
    });
    expect(toHost).toEqual([]);
    expect(toClient).toMatchObject([
      { type: "error", error: { event_id: "mine", param: "session.instructions", type: "invalid_request_error" } },
    ]);
    // What only the gateway needs can change.
    const format = { audio: { output: { format: { type: "audio/pcmu" } } } };
    expect(typesOf(bridge.says({ type: "session.update", session: { type: "realtime", ...format } }).toClient)).toEqual(
      ["session.updated"],
    );
  });

  test("a host that accepts new instructions within a session gets them", () => {
    const bridge = begun({ instructions: "Be brief." }, { quirks: { contextUpdates: true } });
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    const { toHost } = bridge.says({ type: "session.update", session: { type: "realtime", instructions: "Be long." } });
    expect(toHost).toEqual([{ contextUpdate: { systemInstruction: { parts: [{ text: "Be long." }] } } }]);
  });

  test.each([
    ["not JSON", "{", null],
    ["an array", "[]", null],
    ["no type", {}, "type"],
    ["an unknown event", { type: "response.sing" }, "type"],
    [
      "an unknown format",
      { type: "session.update", session: { audio: { input: { format: { type: "audio/opus" } } } } },
      "session.audio.input.format",
    ],
    [
      "another rate",
      { type: "session.update", session: { audio: { input: { format: { type: "audio/pcm", rate: 8000 } } } } },
      "session.audio.input.format",
    ],
    ["a session that only transcribes", { type: "session.update", session: { type: "transcription" } }, "session.type"],
    ["audio that is not base64", { type: "input_audio_buffer.append", audio: "*?*?" }, "audio"],
    ["an item without a role", { type: "conversation.item.create", item: { type: "message" } }, "item.role"],
    [
      "a response beside the conversation",
      { type: "response.create", response: { conversation: "none" } },
      "response.conversation",
    ],
    ["a response to other input", { type: "response.create", response: { input: [] } }, "response.input"],
    ["an item that was sent", { type: "conversation.item.delete", item_id: "item_x" }, "item_id"],
    ["retrieval", { type: "conversation.item.retrieve", item_id: "item_x" }, "type"],
    ["a buffer of another transport", { type: "output_audio_buffer.clear" }, "type"],
  ])("an error names the field: %s", (_, frame, param) => {
    const { toHost, toClient } = begun().says(frame);
    expect(toHost).toEqual([]);
    expect(toClient).toMatchObject([{ type: "error", error: { type: "invalid_request_error", param } }]);
  });

  test("the beta's names are read and written", () => {
    const bridge = realtimeOnLive({ beta: true });
    const session = {
      modalities: ["text", "audio"],
      voice: "alloy",
      input_audio_format: "g711_ulaw",
      output_audio_format: "g711_alaw",
      turn_detection: null,
      input_audio_transcription: { model: "whisper-1" },
      max_response_output_tokens: "inf",
      temperature: 0.7,
    };
    const { toClient } = bridge.says({ type: "session.update", session });
    expect(toClient).toMatchObject([{ type: "session.updated", session: { ...session, tool_choice: "auto" } }]);
    bridge.says({ type: "input_audio_buffer.append", audio: Buffer.alloc(1600, 0xff).toString("base64") });
    expect(typesOf(bridge.says({ type: "input_audio_buffer.commit" }).toClient)).toEqual([
      "input_audio_buffer.committed",
      "conversation.item.created",
    ]);
    const { toHost } = bridge.says({ type: "response.create" });
    expect(toHost[0]?.["setup"]).toMatchObject({ generationConfig: { temperature: 0.7 } });
    const held = bridge.hears({ setupComplete: {} }).toHost;
    expect(held.map((frame) => Object.keys(frame["realtimeInput"] as object)[0])).toEqual([
      "activityStart",
      "audio",
      "audio",
      "activityEnd",
    ]);
    const turn = bridge.hears({
      serverContent: { modelTurn: { parts: [sound(200)] }, outputTranscription: { text: "Hi" } },
    });
    expect(typesOf(turn.toClient)).toEqual([
      "response.output_item.added",
      "conversation.item.created",
      "response.content_part.added",
      "response.audio.delta",
      "response.audio_transcript.delta",
    ]);
    const bytes = Buffer.from(String(turn.toClient[3]?.["delta"]), "base64").length;
    // 200 ms at 8 kHz; a few samples wait for those after them.
    expect(Math.abs(bytes - 1600)).toBeLessThan(40);
  });
});

describe("decision 0118: turns of a Realtime client on a Live host", () => {
  test("messages wait for the response that answers them", () => {
    const bridge = begun();
    const first = bridge.says(message("Hello."));
    expect(first.toHost).toEqual([]);
    expect(typesOf(first.toClient)).toEqual(["conversation.item.added", "conversation.item.done"]);
    bridge.says(message("Speak like a pirate.", "system"));
    bridge.says(message("Aye.", "assistant"));
    const asked = bridge.says({ type: "response.create", response: { metadata: { mine: "1" } } });
    expect(asked.toClient).toMatchObject([
      { type: "response.created", response: { status: "in_progress", metadata: { mine: "1" } } },
    ]);
    const [content] = bridge.hears({ setupComplete: {} }).toHost;
    expect(content).toEqual({
      clientContent: {
        turns: [
          { role: "user", parts: [{ text: "Hello." }, { text: "<system>\nSpeak like a pirate.\n</system>" }] },
          { role: "model", parts: [{ text: "Aye." }] },
        ],
        turnComplete: true,
      },
    });
  });

  test("a turn is a response with balanced parts, and its usage", () => {
    const bridge = begun();
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    const frames: JsonObject[] = [];
    for (const frame of [
      said([sound(40)]),
      { serverContent: { outputTranscription: { text: "Good " } } },
      said([sound(40)]),
      { serverContent: { outputTranscription: { text: "day." } } },
      { serverContent: { generationComplete: true } },
      {
        serverContent: { turnComplete: true },
        usageMetadata: {
          promptTokenCount: 100,
          cachedContentTokenCount: 20,
          responseTokenCount: 50,
          thoughtsTokenCount: 7,
          totalTokenCount: 157,
          promptTokensDetails: [
            { modality: "AUDIO", tokenCount: 60 },
            { modality: "TEXT", tokenCount: 40 },
          ],
          responseTokensDetails: [{ modality: "AUDIO", tokenCount: 50 }],
        },
      },
    ])
      frames.push(...bridge.hears(frame).toClient);
    expect(typesOf(frames)).toEqual([
      "response.output_item.added",
      "conversation.item.added",
      "response.content_part.added",
      "response.output_audio.delta",
      "response.output_audio_transcript.delta",
      "response.output_audio.delta",
      "response.output_audio_transcript.delta",
      "response.output_audio.done",
      "response.output_audio_transcript.done",
      "response.content_part.done",
      "response.output_item.done",
      "conversation.item.done",
      "response.done",
    ]);
    expect(frames.at(-1)?.["response"]).toMatchObject({
      status: "completed",
      output: [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_audio", transcript: "Good day." }],
        },
      ],
      usage: {
        total_tokens: 157,
        input_tokens: 100,
        output_tokens: 57,
        input_token_details: { text_tokens: 40, audio_tokens: 60, cached_tokens: 20 },
        output_token_details: { text_tokens: 7, audio_tokens: 50, reasoning_tokens: 7 },
      },
    });
  });

  test("detected speech is heard at 16 kHz and becomes an item before the answer", () => {
    const bridge = begun({ audio: { input: { transcription: { model: "whisper-1" } } } });
    bridge.says({ type: "input_audio_buffer.append", audio: audio(100) });
    const [waiting] = bridge.hears({ setupComplete: {} }).toHost;
    expect(waiting).toMatchObject({ realtimeInput: { audio: { mimeType: "audio/pcm;rate=16000" } } });
    const more = bridge.says({ type: "input_audio_buffer.append", audio: audio(100) }).toHost[0];
    const data = objectAt(objectAt(more, "realtimeInput"), "audio");
    expect(Buffer.from(String(data?.["data"]), "base64").length).toBe(3200);
    const heard = bridge.hears({ serverContent: { inputTranscription: { text: "Hello" } } }).toClient;
    expect(typesOf(heard)).toEqual([
      "input_audio_buffer.speech_started",
      "conversation.item.input_audio_transcription.delta",
    ]);
    const answer = bridge.hears(said([sound(40)])).toClient;
    expect(typesOf(answer).slice(0, 5)).toEqual([
      "input_audio_buffer.speech_stopped",
      "input_audio_buffer.committed",
      "conversation.item.added",
      "conversation.item.done",
      "response.created",
    ]);
    const done = bridge.hears(ended).toClient;
    expect(typesOf(done)[0]).toBe("conversation.item.input_audio_transcription.completed");
    expect(done[0]).toMatchObject({
      transcript: "Hello",
      item_id: heard[0]?.["item_id"],
      usage: { type: "tokens", total_tokens: 0 },
    });
    expect(done.at(-1)).toMatchObject({ type: "response.done", response: { status: "completed" } });
  });

  test("messages reach the host before speech, but do not interrupt a turn", () => {
    const bridge = begun();
    bridge.says(message("I am in Rome."));
    bridge.says({ type: "input_audio_buffer.append", audio: audio(100) });
    expect(bridge.hears({ setupComplete: {} }).toHost.map((frame) => Object.keys(frame)[0])).toEqual([
      "clientContent",
      "realtimeInput",
    ]);
    bridge.hears(said([sound(40)]));
    bridge.says(message("It rains."));
    expect(
      bridge
        .says({ type: "input_audio_buffer.append", audio: audio(100) })
        .toHost.map((frame) => Object.keys(frame)[0]),
    ).toEqual(["realtimeInput"]);
    bridge.hears(ended);
    expect(bridge.says({ type: "input_audio_buffer.append", audio: audio(100) }).toHost).toMatchObject([
      { clientContent: { turnComplete: false } },
      {},
    ]);
  });

  test("speech that interrupts ends the response", () => {
    const bridge = begun();
    bridge.says({ type: "input_audio_buffer.append", audio: audio(100) });
    bridge.hears({ setupComplete: {} });
    bridge.hears(said([sound(40)]));
    expect(typesOf(bridge.hears({ serverContent: { interrupted: true } }).toClient)).toEqual([
      "input_audio_buffer.speech_started",
    ]);
    const { toClient } = bridge.hears(ended);
    expect(toClient.at(-1)).toMatchObject({
      type: "response.done",
      response: {
        status: "cancelled",
        status_details: { type: "cancelled", reason: "turn_detected" },
        usage: { total_tokens: 15 },
      },
    });
    expect(toClient.find(({ type }) => type === "response.output_item.done")).toMatchObject({
      item: { status: "incomplete" },
    });
  });

  test("a call is a response, and its result begins the next", () => {
    const bridge = begun();
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    const call = { id: "fc_1", name: "look", args: { at: "sky" } };
    const { toClient } = bridge.hears({
      toolCall: { functionCalls: [call] },
      usageMetadata: { promptTokenCount: 3, responseTokenCount: 2, totalTokenCount: 5 },
    });
    expect(typesOf(toClient)).toEqual([
      "response.output_item.added",
      "conversation.item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "conversation.item.done",
      "response.done",
    ]);
    expect(toClient.at(-1)?.["response"]).toMatchObject({
      output: [{ type: "function_call", call_id: "fc_1", name: "look", arguments: '{"at":"sky"}' }],
      usage: { total_tokens: 5 },
    });
    expect(
      bridge.says({
        type: "conversation.item.create",
        item: { type: "function_call_output", call_id: "fc_1", output: "Blue." },
      }).toHost,
    ).toEqual([]);
    expect(bridge.says({ type: "response.create" }).toHost).toEqual([
      { toolResponse: { functionResponses: [{ id: "fc_1", name: "look", response: { output: "Blue." } }] } },
    ]);
  });

  test("the result of a cancelled call is not sent", () => {
    const bridge = begun();
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    bridge.hears({ toolCall: { functionCalls: [{ id: "fc_1", name: "look", args: {} }] } });
    bridge.hears({ toolCallCancellation: { ids: ["fc_1"] } });
    bridge.says({
      type: "conversation.item.create",
      item: { type: "function_call_output", call_id: "fc_1", output: "Blue." },
    });
    expect(bridge.notes.at(-1)).toMatchObject({ path: "item", action: "dropped" });
    expect(bridge.says({ type: "response.create" }).toHost).toEqual([{ clientContent: { turnComplete: true } }]);
  });

  test("tools whose names the host rejects keep their names for the client", () => {
    const bridge = begun({
      tools: [{ type: "function", name: "look at/it", parameters: { type: "object", properties: {} } }],
    });
    const [{ setup } = {}] = bridge.says({ type: "response.create" }).toHost;
    const sent = JSON.stringify(setup).match(/"name":"([^"]+)"/)?.[1];
    expect(sent).not.toBe("look at/it");
    bridge.hears({ setupComplete: {} });
    const { toClient } = bridge.hears({ toolCall: { functionCalls: [{ id: "1", name: sent, args: {} }] } });
    expect(JSON.stringify(toClient)).toContain("look at/it");
    bridge.says({ type: "conversation.item.create", item: { type: "function_call_output", call_id: "1", output: "" } });
    expect(JSON.stringify(bridge.says({ type: "response.create" }).toHost)).toContain(`"name":"${sent}"`);
  });

  test("one response at a time; a cancelled one sends nothing more and is counted", () => {
    const bridge = begun();
    expect(bridge.says({ type: "response.cancel" }).toClient).toMatchObject([
      { error: { code: "response_cancel_not_active" } },
    ]);
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    bridge.hears(said([{ text: "One" }]));
    expect(bridge.says({ type: "response.create", event_id: "two" }).toClient).toMatchObject([
      { error: { code: "conversation_already_has_active_response", event_id: "two" } },
    ]);
    expect(bridge.says({ type: "response.cancel" }).toHost).toEqual([{ clientContent: { turnComplete: false } }]);
    expect(bridge.hears(said([{ text: "Two" }])).toClient).toEqual([]);
    bridge.hears({ serverContent: { interrupted: true } });
    expect(bridge.hears(ended).toClient.at(-1)).toMatchObject({
      type: "response.done",
      response: { status: "cancelled", status_details: { reason: "client_cancelled" }, usage: { total_tokens: 15 } },
    });
  });

  test("the late end of a turn that was played does not end the next one", () => {
    const bridge = begun();
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    bridge.hears(said([sound(40)]));
    bridge.hears({ serverContent: { generationComplete: true } });
    bridge.says(message("Next."));
    const { toClient } = bridge.says({ type: "response.create" });
    expect(typesOf(toClient).slice(-2)).toEqual(["response.done", "response.created"]);
    expect(toClient.at(-2)).toMatchObject({ response: { status: "completed" } });
    expect(bridge.hears({ serverContent: { interrupted: true } }).events).toEqual([]);
    expect(bridge.hears(ended).events).toMatchObject([{ type: "used", usage: { input: 10, output: 5 } }]);
    bridge.hears(said([{ text: "Here." }]));
    expect(bridge.hears(ended).toClient.at(-1)).toMatchObject({
      response: { status: "completed", usage: { total_tokens: 15 } },
    });
  });

  test("push to talk: audio is held until it is committed and answered, and can be cleared", () => {
    const bridge = begun({ audio: { input: { turn_detection: null } } });
    expect(bridge.says({ type: "input_audio_buffer.commit" }).toClient).toMatchObject([
      { error: { code: "input_audio_buffer_commit_empty" } },
    ]);
    bridge.says({ type: "input_audio_buffer.append", audio: audio(100) });
    expect(bridge.says({ type: "input_audio_buffer.clear" }).toClient).toMatchObject([
      { type: "input_audio_buffer.cleared" },
    ]);
    const append = { type: "input_audio_buffer.append", audio: audio(300) };
    expect(bridge.says(append).toHost).toEqual([]);
    expect(typesOf(bridge.says({ type: "input_audio_buffer.commit" }).toClient)).toEqual([
      "input_audio_buffer.committed",
      "conversation.item.added",
      "conversation.item.done",
    ]);
    bridge.says({ type: "response.create" });
    const frames = bridge.hears({ setupComplete: {} }).toHost;
    const bytes = frames
      .map((frame) => JSON.stringify(frame).match(/"data":"([^"]*)"/)?.[1])
      .map((data) => (data === undefined ? 0 : Buffer.from(data, "base64").length));
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBe(9600);
    expect([frames[0], frames.at(-1)]).toEqual([
      { realtimeInput: { activityStart: {} } },
      { realtimeInput: { activityEnd: {} } },
    ]);
  });

  test("audio that is never committed is bounded", () => {
    const bridge = begun({ audio: { input: { turn_detection: null } } });
    const second = { type: "input_audio_buffer.append", audio: audio(10_000) };
    const errors = Array.from({ length: 20 }, () => bridge.says(second).toClient).flat();
    expect(errors.length).toBeGreaterThan(0);
    expect(errors[0]).toMatchObject({ type: "error", error: { code: "request_too_large", param: "audio" } });
  });

  test("items that wait for a response are bounded, by number and by size", () => {
    const bridge = begun();
    const large = { type: "message", role: "user", content: [{ type: "input_text", text: "x".repeat(4_000_000) }] };
    const errors = Array.from(
      { length: 6 },
      () => bridge.says({ type: "conversation.item.create", item: large }).toClient,
    );
    expect(errors.at(-1)).toMatchObject([{ type: "error", error: { code: "request_too_large", param: "item" } }]);
    const many = begun();
    const types = Array.from({ length: 1001 }, () => many.says(message("a")).toClient[0]?.["type"]);
    expect(types.filter((type) => type === "error").length).toBe(1);
  });

  test("settings of one response are approximated or noted", () => {
    const bridge = begun({ instructions: "Be brief." });
    bridge.says({
      type: "response.create",
      response: { instructions: "Greet the user.", output_modalities: ["text"], max_output_tokens: 10, tools: [] },
    });
    expect(bridge.hears({ setupComplete: {} }).toHost).toEqual([
      {
        clientContent: {
          turns: [{ role: "user", parts: [{ text: "<system>\nGreet the user.\n</system>" }] }],
          turnComplete: true,
        },
      },
    ]);
    expect(bridge.notes.map(({ path, action }) => `${action} ${path}`)).toContain("approximated response.instructions");
    expect(bridge.notes.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["response.output_modalities", "response.max_output_tokens", "response.tools"]),
    );
  });

  test("truncation is confirmed, and left to the host", () => {
    const { toHost, toClient } = begun().says({
      type: "conversation.item.truncate",
      item_id: "item_1",
      content_index: 0,
      audio_end_ms: 900,
    });
    expect(toHost).toEqual([]);
    expect(toClient).toMatchObject([{ type: "conversation.item.truncated", item_id: "item_1", audio_end_ms: 900 }]);
  });

  test("images and audio are content of messages", () => {
    const bridge = begun();
    const content = [
      { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" },
      { type: "input_audio", audio: Buffer.alloc(4800).toString("base64") },
    ];
    bridge.says({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
    bridge.says({ type: "response.create" });
    const [frame] = bridge.hears({ setupComplete: {} }).toHost;
    expect(frame).toMatchObject({
      clientContent: {
        turns: [{ parts: [{ inlineData: { mimeType: "image/png" } }, { inlineData: { mimeType: "audio/wav" } }] }],
      },
    });
    expect(JSON.stringify(frame)).toContain(Buffer.from("RIFF").toString("base64").slice(0, 4));
  });

  test.each([
    ["PROHIBITED_INPUT_CONTENT", { status: "incomplete", status_details: { reason: "content_filter" } }],
    ["MALFORMED_FUNCTION_CALL", { status: "failed", status_details: { error: { type: "api_error" } } }],
    ["NEED_MORE_INPUT", { status: "completed", status_details: null }],
  ])("a turn that ends with %s", (turnCompleteReason, response) => {
    const bridge = begun();
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    expect(bridge.hears({ serverContent: { turnComplete: true, turnCompleteReason } }).toClient.at(-1)).toMatchObject({
      response,
    });
  });

  test("H26: usage that comes after the end of a turn is not lost", () => {
    const bridge = begun();
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    const { events } = bridge.hears({ toolCall: { functionCalls: [{ id: "1", name: "a", args: {} }] } });
    const [turnId = ""] = events.flatMap((event) => (event.type === "turn-ended" ? [event.id] : []));
    expect(bridge.hears({ usageMetadata: { promptTokenCount: 4, totalTokenCount: 6 } }).events).toEqual([
      { type: "used", id: turnId, usage: { input: 4, output: 2 } },
    ]);
  });

  test("a lost host connection ends the open response before the error", () => {
    const bridge = begun();
    bridge.says({ type: "response.create" });
    bridge.hears({ setupComplete: {} });
    bridge.hears(said([{ text: "One" }]));
    const { events } = bridge.hears("not JSON");
    expect(events).toMatchObject([{ type: "error", fatal: true }]);
    const [error] = events.flatMap((event) => (event.type === "error" ? [event.error] : []));
    const frames = bridge.client.encodeCut(error!).map((text) => JSON.parse(text) as JsonObject);
    expect(typesOf(frames)).toEqual([
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "conversation.item.done",
      "response.done",
      "error",
    ]);
    expect(frames.at(-2)).toMatchObject({
      response: { status: "failed", status_details: { type: "failed", error: { code: "upstream_failed" } } },
    });
  });
});
