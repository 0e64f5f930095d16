import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { LiveCommand, LiveEvent } from "../../canon/live.ts";
import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import { live } from "../live/index.ts";
import { DEFAULT_LIVE_QUIRKS } from "../live/quirks.ts";
import * as liveUsage from "../live/usage.ts";
import type { LiveDialect } from "../live-dialect.ts";
import { realtime } from "../realtime/index.ts";
import * as realtimeUsage from "../realtime/usage.ts";
import { Bridge, type Led } from "./bridge.sample.ts";

const PATHS = { paths: {}, extras: [] };

function sidesOf(dialect: LiveDialect) {
  let made = 0;
  const makeId = () => `${++made}`;
  const client = dialect.client({ sessionId: "ses_1", model: "a/b", expiresAtSeconds: 0, makeId });
  const host = dialect.upstream({
    upstreamModel: "m",
    traits: { reasoning: true },
    quirks: DEFAULT_LIVE_QUIRKS,
    makeId,
    nowMs: () => 0,
    clientDialect: dialect.name,
  });
  return { client, host };
}

const text = fc.string({ minLength: 1, maxLength: 8 });
const count = fc.nat(1000);
const usage: fc.Arbitrary<Usage> = fc
  .record({
    input: count,
    output: count,
    audioInput: count,
    audioOutput: count,
    imageInput: count,
    cacheRead: count,
    reasoning: count,
  })
  .map((counts) =>
    Object.fromEntries(
      Object.entries(counts).filter(([name, value]) => value > 0 || name === "input" || name === "output"),
    ),
  );

const event: fc.Arbitrary<LiveEvent> = fc.oneof(
  fc.record({
    type: fc.constant("turn-began" as const),
    id: fc.constantFrom("t1", "t2", "t3"),
    cause: fc.constantFrom("asked" as const, "detected" as const),
  }),
  fc.record({
    type: fc.constantFrom("text-delta" as const, "transcript-delta" as const, "reasoning-delta" as const),
    text,
  }),
  fc.record({
    type: fc.constant("audio-delta" as const),
    audio: fc.uint8Array({ maxLength: 9 }),
    format: fc.constant({ type: "pcm" as const, rate: 24_000 }),
  }),
  fc.record({
    type: fc.constant("tool-call" as const),
    id: text,
    name: text,
    arguments: fc.constantFrom("{}", '{"a":1}', "", "oops"),
  }),
  fc.record({ type: fc.constant("tool-calls-cancelled" as const), ids: fc.array(text, { maxLength: 2 }) }),
  fc.constant({ type: "interrupted" as const }),
  fc.record({
    type: fc.constantFrom("speech-started" as const, "speech-stopped" as const, "input-committed" as const),
    itemId: text,
  }),
  fc.record({
    type: fc.constantFrom("input-transcript-delta" as const, "input-transcript" as const),
    itemId: text,
    text,
  }),
  fc.record({ type: fc.constant("settings-applied" as const), settings: fc.constant(PATHS) }),
  fc.record({
    type: fc.constant("error" as const),
    error: fc.constant(new GatewayError("upstream_failed", "No.")),
    fatal: fc.boolean(),
  }),
  fc
    .record({
      type: fc.constant("turn-ended" as const),
      id: fc.constantFrom("t1", "t2"),
      status: fc.constantFrom("completed" as const, "cancelled" as const, "failed" as const, "incomplete" as const),
      usage,
    })
    .map(
      (ended): LiveEvent =>
        ended.status === "failed" ? { ...ended, error: new GatewayError("upstream_failed", "No.") } : ended,
    ),
);

/** Follows a response as a strict client does, and complains about anything out of place. */
class StrictRealtimeClient {
  readonly responses: string[] = [];
  #response: string | undefined;
  readonly #items = new Map<string, "open" | "done">();
  readonly #parts = new Set<string>();
  #outputs = 0;
  readonly ids = new Set<string>();

  read({ type, event_id, ...event }: JsonObject): void {
    expect(this.ids.has(String(event_id))).toBe(false);
    this.ids.add(String(event_id));
    const item = String(event["item_id"] ?? "");
    switch (type) {
      case "response.created":
        expect(this.#response).toBeUndefined();
        this.#response = String((event["response"] as JsonObject)["id"]);
        this.#outputs = 0;
        break;
      case "response.output_item.added":
        expect(event["response_id"]).toBe(this.#response);
        expect(event["output_index"]).toBe(this.#outputs);
        this.#items.set(String((event["item"] as JsonObject)["id"]), "open");
        break;
      case "response.content_part.added":
        expect(this.#items.get(item)).toBe("open");
        expect(this.#parts.has(item)).toBe(false);
        this.#parts.add(item);
        break;
      case "response.output_text.delta":
      case "response.output_audio.delta":
      case "response.output_audio_transcript.delta":
        expect(this.#parts.has(item)).toBe(true);
        break;
      case "response.content_part.done":
        expect(this.#parts.delete(item)).toBe(true);
        break;
      case "response.output_item.done": {
        const id = String((event["item"] as JsonObject)["id"]);
        expect(this.#items.get(id)).toBe("open");
        expect(this.#parts.has(id)).toBe(false);
        this.#items.set(id, "done");
        this.#outputs++;
        break;
      }
      case "response.done": {
        const response = event["response"] as JsonObject;
        expect(response["id"]).toBe(this.#response);
        expect((response["output"] as unknown[]).length).toBe(this.#outputs);
        expect([...this.#items.values()].every((state) => state === "done")).toBe(true);
        this.#response = undefined;
        this.responses.push(String(response["status"]));
        break;
      }
      default:
        break;
    }
  }

  get isIdle(): boolean {
    return this.#response === undefined && this.#parts.size === 0;
  }
}

describe("decision 0118: whatever a host does, a client reads a valid session", () => {
  test("realtime: parts and items are balanced, each response ends once, and a cut closes what is open", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const { client } = sidesOf(realtime);
        const reader = new StrictRealtimeClient();
        for (const one of events) for (const frame of client.encode(one)) reader.read(JSON.parse(frame) as JsonObject);
        for (const frame of client.encodeCut(new GatewayError("upstream_failed", "Gone.")))
          reader.read(JSON.parse(frame) as JsonObject);
        expect(reader.isIdle).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("live: each message has one kind of content, and each turn with content ends once", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const { client } = sidesOf(live);
        client.decode('{"setup":{"model":"models/m","outputAudioTranscription":{},"inputAudioTranscription":{}}}');
        let open = false;
        const read = (frame: string) => {
          const { usageMetadata: _counted, ...message } = JSON.parse(frame) as JsonObject;
          expect(Object.keys(message).length).toBe(1);
          const content = message["serverContent"] as JsonObject | undefined;
          if (content?.["modelTurn"] !== undefined) open = true;
          if (content?.["turnComplete"] === true || message["toolCall"] !== undefined) open = false;
        };
        for (const one of events) for (const frame of client.encode(one)) read(frame);
        for (const frame of client.encodeCut(new GatewayError("upstream_failed", "Gone."))) read(frame);
        expect(open).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe("H36: usage counts every token once, in both protocols", () => {
  test.each([
    ["realtime", realtimeUsage],
    ["live", liveUsage],
  ] as const)("%s: decoding what was encoded gives the same counters", (_, { encodeUsage, decodeUsage }) => {
    fc.assert(
      fc.property(usage, (counted) => {
        const wire = encodeUsage(counted);
        expect(decodeUsage(JSON.parse(JSON.stringify(wire)))).toEqual(counted);
      }),
    );
  });

  test("realtime: the counters add up to the host's totals, however it divides them", () => {
    const modalities = fc.record({ text: count, audio: count, image: count });
    fc.assert(
      fc.property(
        modalities,
        modalities,
        count,
        count,
        fc.boolean(),
        (prompt, cachedMost, spoken, written, divided) => {
          const cached = {
            text: Math.min(prompt.text, cachedMost.text),
            audio: Math.min(prompt.audio, cachedMost.audio),
            image: Math.min(prompt.image, cachedMost.image),
          };
          const input = prompt.text + prompt.audio + prompt.image;
          const read = realtimeUsage.decodeUsage({
            input_tokens: input,
            output_tokens: spoken + written,
            total_tokens: input + spoken + written,
            input_token_details: {
              text_tokens: prompt.text,
              audio_tokens: prompt.audio,
              image_tokens: prompt.image,
              cached_tokens: cached.text + cached.audio + cached.image,
              ...(divided
                ? {
                    cached_tokens_details: {
                      text_tokens: cached.text,
                      audio_tokens: cached.audio,
                      image_tokens: cached.image,
                    },
                  }
                : {}),
            },
            output_token_details: { text_tokens: written, audio_tokens: spoken },
          });
          expect(promptTokens(read ?? {})).toBe(input);
          expect(completionTokens(read ?? {})).toBe(spoken + written);
          if (divided)
            expect([read?.input ?? 0, read?.audioInput ?? 0, read?.imageInput ?? 0]).toEqual([
              prompt.text - cached.text,
              prompt.audio - cached.audio,
              prompt.image - cached.image,
            ]);
        },
      ),
    );
  });

  test.each([
    [{ input_tokens: 10 }, { input: 10, output: 0 }],
    [
      { input_tokens: 10, output_tokens: 5, total_tokens: 100 },
      { input: 10, output: 90 },
    ],
    [
      { input_tokens: 10, output_tokens: 5, new_tokens: 3 },
      { input: 10, output: 5, unknown: ["usage.new_tokens"] },
    ],
    [undefined, undefined],
    [{}, undefined],
  ])("realtime: %j", (raw, expected) => {
    expect(realtimeUsage.decodeUsage(raw)).toEqual(expected as never);
  });

  test.each([
    [
      { promptTokenCount: 10, totalTokenCount: 30 },
      { input: 10, output: 20 },
    ],
    [
      { promptTokenCount: 10, responseTokenCount: 4, thoughtsTokenCount: 2, totalTokenCount: 16 },
      { input: 10, output: 4, reasoning: 2 },
    ],
    [
      { promptTokenCount: 10, promptTokensDetails: [{ modality: "VIDEO", tokenCount: 6 }], totalTokenCount: 10 },
      { input: 4, imageInput: 6, output: 0 },
    ],
    [
      { promptTokenCount: 10, toolUsePromptTokenCount: 5, responseTokenCount: 1, totalTokenCount: 16 },
      { input: 15, output: 1 },
    ],
    [{}, undefined],
  ])("live: %j", (raw, expected) => {
    expect(liveUsage.decodeUsage(raw)).toEqual(expected as never);
  });
});

describe("decision 0118: a dialect reads what it writes", () => {
  const without = (command: LiveCommand): unknown => {
    const plain = command.type === "audio" ? { ...command, audio: [...command.audio] } : command;
    const text = JSON.stringify(plain, (key, value: unknown) =>
      key === "path" || key === "paths" ? undefined : value,
    );
    return JSON.parse(text);
  };
  const again = (dialect: LiveDialect, command: LiveCommand, before: readonly string[] = []): unknown[] => {
    const { client, host } = sidesOf(dialect);
    for (const frame of before) client.decode(frame);
    return host
      .encode(command)
      .frames.flatMap((frame) => client.decode(frame))
      .map(without);
  };
  const item = (parts: LiveCommand & { type: "item" }) => parts;
  const messages = fc.record({
    role: fc.constantFrom("user" as const, "assistant" as const, "system" as const),
    texts: fc.array(text, { minLength: 1, maxLength: 3 }),
  });

  test("realtime: commands", () => {
    const plain: fc.Arbitrary<LiveCommand> = fc.oneof(
      fc.record({ type: fc.constantFrom("audio-commit" as const, "audio-clear" as const, "cancel" as const) }),
      fc.record({ type: fc.constantFrom("item-delete" as const, "item-retrieve" as const), itemId: text }),
      fc.record({ type: fc.constant("item-truncate" as const), itemId: text, contentIndex: count, audioEndMs: count }),
      fc.record({
        type: fc.constant("audio" as const),
        audio: fc.uint8Array({ minLength: 2, maxLength: 8 }),
        format: fc.constant({ type: "pcm" as const, rate: 24_000 }),
      }),
      fc.record({ type: fc.constant("respond" as const), cause: fc.constant("asked" as const) }),
      messages.map(({ role, texts }) =>
        item({
          type: "item",
          item: { id: "i", turn: { role, path: "item", parts: texts.map((one) => ({ type: "text", text: one })) } },
        }),
      ),
    );
    fc.assert(
      fc.property(plain, text, (command, eventId) => {
        const sent = command.type === "audio" ? command : { ...command, eventId };
        expect(again(realtime, sent)).toEqual([without(sent)]);
      }),
    );
  });

  test("realtime: settings", () => {
    const settings = fc.record(
      {
        modalities: fc.constantFrom(["audio" as const], ["text" as const]),
        instructions: text,
        voice: text,
        speed: fc.constantFrom(0.5, 1.25),
        maxOutputTokens: fc.oneof(fc.constant("unlimited" as const), count),
        toolChoice: fc.constantFrom(
          { type: "auto" as const },
          { type: "any" as const },
          { type: "tool" as const, name: "f" },
        ),
        parallelTools: fc.boolean(),
        inputFormat: fc.constantFrom({ type: "pcmu" as const }, { type: "pcm" as const, rate: 24_000 }),
        outputFormat: fc.constantFrom({ type: "pcma" as const }, { type: "pcm" as const, rate: 24_000 }),
        inputTranscription: fc.constantFrom(
          null,
          { model: "w", languages: ["en"] },
          { model: "w", prompt: "p", languages: ["en", "de"] },
        ),
        turnDetection: fc.constantFrom(
          null,
          { type: "semantic" as const, eagerness: "low" as const, responds: true, interrupts: false },
          {
            type: "server" as const,
            threshold: 0.4,
            silenceMs: 5,
            prefixPaddingMs: 6,
            idleTimeoutMs: 7,
            responds: false,
            interrupts: true,
          },
        ),
        truncation: fc.constantFrom("auto" as const, "disabled" as const),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(settings, (some) => {
        expect(again(realtime, { type: "settings", settings: { ...some, ...PATHS } })).toEqual([
          without({ type: "settings", settings: { ...some, ...PATHS } }),
        ]);
      }),
    );
  });

  test("live: commands", () => {
    const setup = ['{"setup":{"model":"models/m"}}'];
    const plain: fc.Arbitrary<LiveCommand> = fc.oneof(
      fc.record({ type: fc.constantFrom("activity-start" as const, "activity-end" as const, "audio-end" as const) }),
      fc.record({ type: fc.constant("typed" as const), text }),
      fc.record({
        type: fc.constant("video" as const),
        mimeType: fc.constant("image/png"),
        data: fc.constant("AAAA"),
        path: fc.constant(""),
      }),
      fc.record({
        type: fc.constant("audio" as const),
        audio: fc.uint8Array({ minLength: 2, maxLength: 8 }),
        format: fc.constant({ type: "pcm" as const, rate: 16_000 }),
      }),
      fc.record({ type: fc.constant("respond" as const), cause: fc.constant("asked" as const) }),
    );
    fc.assert(
      fc.property(plain, (command) => {
        expect(again(live, command, setup)).toEqual([without(command)]);
      }),
    );
  });
});

describe("H20: no frame of a client or a host breaks a codec", () => {
  const names = [
    "type",
    "session",
    "response",
    "item",
    "audio",
    "input",
    "output",
    "setup",
    "serverContent",
    "clientContent",
    "realtimeInput",
    "toolResponse",
    "toolCall",
    "modelTurn",
    "parts",
    "turns",
    "tools",
    "turn_detection",
    "content",
    "functionResponses",
    "functionCalls",
    "generationConfig",
    "usageMetadata",
    "usage",
    "inlineData",
    "data",
    "delta",
  ];
  const types = [
    "session.update",
    "session.created",
    "response.create",
    "response.created",
    "response.done",
    "conversation.item.create",
    "input_audio_buffer.append",
    "response.output_item.done",
    "error",
    "message",
    "function_call",
    "response.output_audio.delta",
  ];
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, 1, -1e9, "", "x", ...types),
      fc.array(tie("tree"), { maxLength: 2 }),
      fc
        .array(fc.tuple(fc.constantFrom(...names), tie("tree")), { maxLength: 4 })
        .map((entries) => Object.fromEntries(entries)),
    ),
  }));

  test.each([["realtime", realtime] as const, ["live", live] as const])("%s", (_, dialect) => {
    const named = fc
      .tuple(fc.constantFrom(...types), tree)
      .map(([type, value]) => (typeof value === "object" && !Array.isArray(value) ? { ...value, type } : value));
    fc.assert(
      fc.property(fc.oneof(tree, named), (value) => {
        const { client, host } = sidesOf(dialect);
        if (dialect === live) client.decode('{"setup":{"model":"models/m"}}');
        const frame = JSON.stringify(value);
        for (const command of client.decode(frame)) host.encode(command);
        for (const one of host.decode(frame).events) client.encode(one);
        dialect.check(frame);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("H20: no frame breaks a translated session, and every error reaches the client in its protocol", () => {
  const said = fc.constantFrom(
    ...[
      { type: "session.update", session: { audio: { input: { turn_detection: null } } } },
      { type: "session.update", session: { instructions: "a" } },
      { type: "input_audio_buffer.append", audio: "AAAAAAAA" },
      { type: "input_audio_buffer.commit" },
      { type: "input_audio_buffer.clear" },
      {
        type: "conversation.item.create",
        item: { type: "message", role: "user", content: [{ type: "input_text", text: "a" }] },
      },
      { type: "conversation.item.create", item: { type: "function_call_output", call_id: "c1", output: "a" } },
      { type: "conversation.item.create", item: { type: "mcp_approval_response", id: "x", approve: true } },
      { type: "conversation.item.delete", item_id: "i" },
      { type: "response.create" },
      { type: "response.create", response: { instructions: "a", metadata: { a: "b" } } },
      { type: "response.cancel" },
      { type: "new.event" },
    ].map((frame) => ({ by: "client" as const, frame })),
  );
  const heard = fc.constantFrom(
    ...[
      { setupComplete: {} },
      { serverContent: { modelTurn: { parts: [{ text: "a" }] } } },
      {
        serverContent: {
          modelTurn: { parts: [{ inlineData: { mimeType: "audio/pcm;rate=24000", data: "AAAAAAAA" } }] },
        },
      },
      { serverContent: { modelTurn: { parts: [{ text: "a", thought: true }, { executableCode: { code: "1" } }] } } },
      { serverContent: { outputTranscription: { text: "a" } } },
      { serverContent: { inputTranscription: { text: "a" } } },
      { serverContent: { inputTranscription: { text: "a", finished: true } } },
      { serverContent: { interrupted: true } },
      { serverContent: { generationComplete: true } },
      { serverContent: { turnComplete: true }, usageMetadata: { promptTokenCount: 1, totalTokenCount: 2 } },
      { toolCall: { functionCalls: [{ id: "c1", name: "f", args: {} }] } },
      { toolCallCancellation: { ids: ["c1"] } },
      { usageMetadata: { promptTokenCount: 1, totalTokenCount: 3 } },
      { voiceActivity: { voiceActivityType: "ACTIVITY_START", audioOffset: "1.5s" } },
      { voiceActivity: { voiceActivityType: "ACTIVITY_END" } },
      { goAway: { timeLeft: "5s" } },
      { newMessage: {} },
    ].map((frame) => ({ by: "host" as const, frame })),
  );

  test("realtime on live: any order of frames is a valid session, and all usage is in one turn or late", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(said, heard), { maxLength: 40 }), (frames) => {
        const bridge = new Bridge(realtime, live);
        const reader = new StrictRealtimeClient();
        const begun: string[] = [];
        const ended: string[] = [];
        let counted = 0;
        let reported = 0;
        const read = ({ toClient, events }: Led) => {
          for (const frame of toClient) reader.read(frame);
          for (const one of events) {
            if (one.type === "turn-began") begun.push(one.id);
            if (one.type === "turn-ended") ended.push(one.id);
            if (one.type === "turn-ended" || one.type === "used") counted += promptTokens(one.usage ?? {});
          }
        };
        read(bridge.open());
        for (const { by, frame } of frames) {
          if ("usageMetadata" in frame) reported++;
          read(by === "client" ? bridge.says(frame) : bridge.hears(frame));
        }
        for (const frame of bridge.client.encodeCut(new GatewayError("upstream_failed", "Gone.")))
          reader.read(JSON.parse(frame) as JsonObject);
        expect(reader.isIdle).toBe(true);
        expect(new Set(ended).size).toBe(ended.length);
        expect(ended).toEqual(begun.slice(0, ended.length));
        expect(begun.length - ended.length).toBe(bridge.host.turnId === undefined ? 0 : 1);
        // A turn counts up, so that two reports within it are one.
        expect(counted).toBeLessThanOrEqual(reported);
        if (reported > 0 && bridge.host.turnId === undefined) expect(counted).toBeGreaterThan(0);
      }),
      { numRuns: 1500 },
    );
  });
});
