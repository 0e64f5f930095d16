import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../json.ts";
import { bytesOf, LiveTester, spoken } from "../../../live/live-tester.sample.ts";
import { understand } from "../../../live/understand.ts";
import { firstChannel } from "../../../voice/wav.ts";

const PATH = "/gemini/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";
const KEY = { "x-goog-api-key": "key" };
const TOOLS = [
  {
    functionDeclarations: [
      {
        name: "get_weather",
        description: "Tells the weather",
        parameters: { type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] },
      },
    ],
  },
];

function open(setup: object = {}, path = PATH, headers: Record<string, string> = KEY): LiveTester {
  const client = new LiveTester(path, headers);
  client.say({ setup: { model: "models/live", ...setup } });
  return client;
}

const TEXT = { generationConfig: { responseModalities: ["TEXT"] } };
const MANUAL = { realtimeInputConfig: { automaticActivityDetection: { disabled: true } } };

const content = (event: JsonObject): JsonObject => (event.serverContent ?? {}) as JsonObject;
const isComplete = (event: JsonObject): boolean => content(event).turnComplete === true;

const write = (client: LiveTester, text: string, turnComplete = true): void =>
  client.say({ clientContent: { turns: [{ role: "user", parts: [{ text }] }], turnComplete } });

async function ask(client: LiveTester, text: string): Promise<JsonObject> {
  const after = client.events.length;
  write(client, text);
  return client.hears(isComplete, after);
}

/** Sends sound at 16,000 samples a second in frames of 20 ms. */
function stream(client: LiveTester, samples: Int16Array, mimeType = "audio/pcm;rate=16000"): void {
  const bytes = bytesOf(samples);
  for (let at = 0; at < bytes.length; at += 640)
    client.say({ realtimeInput: { audio: { mimeType, data: bytes.subarray(at, at + 640).toString("base64") } } });
}

/** The same at two thirds of the rate, as linear interpolation has it. */
function at16k(samples: Int16Array): Int16Array {
  return Int16Array.from({ length: Math.floor((samples.length * 2) / 3) }, (_, index) => {
    const at = index * 1.5;
    const [left = 0, right = 0] = [samples[Math.floor(at)], samples[Math.floor(at) + 1]];
    return left + (right - left) * (at % 1);
  });
}

const silence = (ms: number): Int16Array => new Int16Array(ms * 16);
const join = (...parts: Int16Array[]): Int16Array => Int16Array.from(parts.flatMap((part) => [...part]));

const partsOf = (client: LiveTester): JsonObject[] =>
  client.events.flatMap((event) => (content(event).modelTurn as { parts?: JsonObject[] } | undefined)?.parts ?? []);
const soundIn = (client: LiveTester): Buffer =>
  Buffer.concat(
    partsOf(client).map(({ inlineData }) =>
      Buffer.from(String((inlineData as JsonObject | undefined)?.data ?? ""), "base64"),
    ),
  );
const textIn = (client: LiveTester): string =>
  partsOf(client)
    .map(({ text }) => String(text ?? ""))
    .join("");
const transcriptIn = (client: LiveTester, name: "inputTranscription" | "outputTranscription"): string =>
  client.events.map((event) => String((content(event)[name] as JsonObject | undefined)?.text ?? "")).join("");

describe("the Live host", () => {
  test("a text is answered aloud in binary frames, and usage is reported by modality", async () => {
    const client = open({ outputAudioTranscription: {} });
    const end = await ask(client, "Hello there");
    expect(client.events[0]).toEqual({ setupComplete: {} });
    expect(client.frames.every((frame) => typeof frame !== "string")).toBe(true);
    const heard = understand(firstChannel(soundIn(client), 1), 24_000);
    expect(heard).toContain("Hello there");
    expect(transcriptIn(client, "outputTranscription")).toBe(heard as string);
    const sound = Math.ceil((soundIn(client).length / 48_000) * 25);
    expect(end.usageMetadata).toEqual({
      promptTokenCount: 4,
      responseTokenCount: sound,
      totalTokenCount: sound + 4,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 4 }],
      responseTokensDetails: [{ modality: "AUDIO", tokenCount: sound }],
    });
    expect(client.events.slice(-2).map(content)).toEqual([{ generationComplete: true }, { turnComplete: true }]);
  });

  test("speech is noticed, understood and answered, and later turns are prompted with it", async () => {
    const client = open({ ...TEXT, inputAudioTranscription: {} });
    const said = at16k(spoken("What time is it?"));
    stream(client, join(silence(1_000), said, silence(700)));
    const end = await client.hears(isComplete);
    expect(transcriptIn(client, "inputTranscription")).toBe("What time is it?");
    expect(textIn(client)).toContain("What time is it?");
    const [detail] = (end.usageMetadata as { promptTokensDetails: JsonObject[] }).promptTokensDetails;
    const tokens = Number(detail?.tokenCount);
    expect(detail?.modality).toBe("AUDIO");
    expect(Math.abs(tokens - ((said.length / 16_000) * 25 + 0.5 * 25))).toBeLessThan(4);
    const next = await ask(client, "And now?");
    expect(next.usageMetadata).toMatchObject({
      promptTokensDetails: [{ modality: "TEXT" }, { modality: "AUDIO", tokenCount: tokens }],
    });
  });

  test("an ended stream ends the turn without silence, and without a rate it is 16 kHz", async () => {
    const client = open(TEXT);
    stream(client, at16k(spoken("Over.")), "audio/pcm");
    client.say({ realtimeInput: { audioStreamEnd: true } });
    await client.hears(isComplete);
    expect(textIn(client)).toContain("Over.");
  });

  test("marks of the client are turns where detection is disabled, and refused where it is not", async () => {
    const client = open({ ...TEXT, ...MANUAL });
    stream(client, at16k(spoken("Not part of it.")));
    client.say({ realtimeInput: { activityStart: {} } });
    stream(client, at16k(spoken("Part of it.")));
    client.say({ realtimeInput: { activityEnd: {} } });
    await client.hears(isComplete);
    expect(textIn(client)).toContain("“Part of it.”");
    const automatic = open();
    automatic.say({ realtimeInput: { activityStart: {} } });
    expect(automatic.closed).toMatchObject({
      code: 1007,
      reason: expect.stringContaining("Explicit activity control"),
    });
  });

  test("content accumulates until the turn is complete", async () => {
    const client = open(TEXT);
    write(client, "First part,", false);
    write(client, "second part", true);
    await client.hears(isComplete);
    expect(textIn(client)).toContain("First part, second part");
  });

  test("a function is called, answered by id, and cancelled when the user speaks instead", async () => {
    const client = open({ ...TEXT, tools: TOOLS });
    write(client, "Please call get_weather for Paris");
    const { toolCall, usageMetadata } = await client.hears((event) => event.toolCall !== undefined);
    const [call] = (toolCall as { functionCalls: JsonObject[] }).functionCalls;
    expect(call).toMatchObject({ name: "get_weather", args: { city: "Paris" } });
    expect(usageMetadata).toMatchObject({ responseTokensDetails: [{ modality: "TEXT" }] });
    const answer = { id: call?.id, name: "get_weather", response: { output: "sunny" } };
    client.say({ toolResponse: { functionResponses: [answer] } });
    await client.hears(isComplete);
    expect(textIn(client)).toContain("get_weather answered “sunny”");
    const after = client.events.length;
    write(client, "Please call get_weather for Rome");
    const second = await client.hears((event) => event.toolCall !== undefined, after);
    const id = (second.toolCall as { functionCalls: JsonObject[] }).functionCalls[0]?.id;
    write(client, "Never mind");
    expect(await client.hears((event) => event.toolCallCancellation !== undefined)).toEqual({
      toolCallCancellation: { ids: [id as string] },
    });
    client.say({ toolResponse: { functionResponses: [{ ...answer, id }] } });
    expect(client.closed).toEqual({ code: 1008, reason: "Requested entity was not found." });
  });

  test("speech interrupts: the turn is complete with what was said, and nothing was generated completely", async () => {
    const client = open();
    write(client, "sim:long");
    await client.hears((event) => content(event).modelTurn !== undefined);
    stream(client, at16k(spoken("Stop")));
    const end = await client.hears(isComplete);
    const at = client.events.indexOf(end);
    expect(content(client.events[at - 1] ?? {})).toEqual({ interrupted: true });
    expect(client.events.some((event) => content(event).generationComplete)).toBe(false);
    expect(end.usageMetadata).toMatchObject({
      responseTokenCount: Math.ceil((soundIn(client).length / 48_000) * 25),
    });
  });

  test("with NO_INTERRUPTION the next turn waits", async () => {
    const client = open({ ...TEXT, realtimeInputConfig: { activityHandling: "NO_INTERRUPTION" } });
    client.say({ realtimeInput: { text: "One" } });
    client.say({ realtimeInput: { text: "Two" } });
    const first = await client.hears(isComplete);
    await client.hears(isComplete, client.events.indexOf(first) + 1);
    expect(client.events.some((event) => content(event).interrupted)).toBe(false);
    expect(textIn(client)).toContain("Two");
  });

  test("a session is resumed with what was said", async () => {
    const client = open({ ...TEXT, sessionResumption: {} });
    const after = client.events.length;
    await ask(client, "Remember me");
    const { sessionResumptionUpdate } = await client.hears(
      (event) => event.sessionResumptionUpdate !== undefined,
      after,
    );
    expect(sessionResumptionUpdate).toMatchObject({ resumable: true });
    const unknown = open({ sessionResumption: { handle: "other" } });
    expect(unknown.closed).toEqual({ code: 1008, reason: "BidiGenerateContent session not found" });
  });

  test("Vertex AI is the same below its own path, with a token", async () => {
    const path = "/vertex/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent";
    const model = "projects/p/locations/l/publishers/google/models/live";
    const client = open({ model, ...TEXT }, path, { authorization: "Bearer token" });
    await ask(client, "Hello");
    expect(client.events[0]).toMatchObject({ setupComplete: { sessionId: expect.any(String) } });
    expect(() => open({}, path, { authorization: "Bearer other" })).toThrow("UNAUTHENTICATED");
  });
});

describe("what the Live host refuses, with a close code and a reason", () => {
  const refused: readonly [what: string, messages: (object | string)[], code: number, reason: string][] = [
    ["JSON that cannot be parsed", ["{"], 1007, "Invalid JSON payload"],
    ["a first message that is no setup", [{ clientContent: {} }], 1007, "setup must be the first"],
    [
      "an unknown model",
      [{ setup: { model: "models/other" } }],
      1008,
      "models/other is not found for API version v1beta",
    ],
    ["an unknown field", [{ setup: { model: "models/live", colour: 1 } }], 1007, 'Unknown name "colour"'],
    [
      "two modalities",
      [{ setup: { model: "models/live", generationConfig: { responseModalities: ["AUDIO", "TEXT"] } } }],
      1007,
      "invalid argument",
    ],
    [
      "a second setup",
      [{ setup: { model: "models/live" } }, { setup: { model: "models/live" } }],
      1007,
      "setup must be",
    ],
    [
      "half a sample",
      [
        { setup: { model: "models/live" } },
        { realtimeInput: { audio: { mimeType: "audio/pcm;rate=16000", data: "AAAA" } } },
      ],
      1007,
      "invalid argument",
    ],
    ["a model that fails", [{ setup: { model: "models/fail-503" } }], 1011, "overloaded"],
  ];
  for (const [what, messages, code, reason] of refused) {
    test(what, () => {
      const client = new LiveTester(PATH, KEY);
      for (const message of messages) client.say(message);
      expect(client.closed?.code).toBe(code);
      expect(client.closed?.reason).toContain(reason);
      expect(Buffer.byteLength(client.closed?.reason ?? "")).toBeLessThanOrEqual(123);
    });
  }

  test("no key, and a wrong one, also in the query", () => {
    expect(new LiveTester(PATH, {}).closed).toMatchObject({ code: 1008 });
    expect(new LiveTester(PATH, { "x-goog-api-key": "wrong" }).closed).toMatchObject({ code: 1007 });
    expect(new LiveTester(`${PATH}?key=wrong`, {}).closed?.reason).toContain("API key not valid");
    expect(new LiveTester(`${PATH}?key=good`, {}).closed).toBeUndefined();
  });
});

describe("faults of the Live host", () => {
  test("cut, close, failures and going away", async () => {
    for (const [word, code] of [
      ["sim:cut", 1006],
      ["sim:close-1008", 1008],
      ["sim:fails", 1011],
      ["sim:busy", 1011],
      ["sim:go-away", 1001],
    ] as const) {
      const client = open(TEXT);
      write(client, word);
      expect((await client.untilClosed()).code).toBe(code);
      expect(client.events.some((event) => event.goAway !== undefined)).toBe(word === "sim:go-away");
    }
  });

  test("garbage, unknown messages, blocked prompts and wrong usage", async () => {
    const client = open(TEXT);
    await ask(client, "sim:garbage sim:unknown-event");
    expect(client.frames.some((frame) => String(frame).endsWith('"modelTurn":'))).toBe(true);
    expect(client.events.some((event) => event.simulatedProgress !== undefined)).toBe(true);
    expect(content(await ask(client, "sim:blocked")).turnCompleteReason).toBe("PROHIBITED_INPUT_CONTENT");
    expect((await ask(client, "sim:no-usage")).usageMetadata).toBeUndefined();
    expect((await ask(client, "sim:wrong-usage")).usageMetadata).toMatchObject({ promptTokenCount: -5 });
  });
});
