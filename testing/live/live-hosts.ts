import type { HostScript, MemoryHost } from "./memory-sockets.ts";

/** Prices in which text and sound differ: in nano-dollars per token 1,000 and 2,000, of sound 4,000 and 8,000. */
const PRICES = {
  prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
  completion: [{ value: 2, unit: "perMTokens", currency: "USD" }],
  audio: [{ value: 4, unit: "perMTokens", currency: "USD" }],
  audio_output: [{ value: 8, unit: "perMTokens", currency: "USD" }],
};

export const LIVE_TIMEOUTS = { first_byte: 3_000, idle: 1_500 };

/** A model of each protocol of live connections, and one that two hosts offer. */
export function liveModels(upstreamUrl: string): Record<string, unknown> {
  const shown = (id: string) => ({
    id,
    display_name: id,
    context_length: 32_000,
    max_output_tokens: 4_096,
    input_modalities: ["text", "audio"],
    output_modalities: ["text", "audio"],
    reasoning: false,
    pricings: PRICES,
  });
  const offer = (provider: string) => ({ provider, model: "upstream-live" });
  return {
    providers: {
      "up-realtime": {
        kind: "openai",
        base_url: `${upstreamUrl}/v1`,
        api_key: "upstream-secret-realtime",
        timeout_ms: LIVE_TIMEOUTS,
      },
      "up-other": {
        kind: "openai",
        base_url: `${upstreamUrl}/other/v1`,
        api_key: "upstream-secret-other",
        timeout_ms: LIVE_TIMEOUTS,
      },
      "up-live": { kind: "gemini", base_url: upstreamUrl, api_key: "upstream-secret-live", timeout_ms: LIVE_TIMEOUTS },
    },
    models: [
      { ...shown("test/realtime"), offers: [offer("up-realtime")] },
      { ...shown("test/live"), offers: [offer("up-live")] },
      { ...shown("test/both"), offers: [offer("up-realtime"), offer("up-other")] },
      { ...shown("test/mute"), output_modalities: ["text"], offers: [offer("up-realtime")] },
    ],
  };
}

/** Usage as a host of Realtime reports it: 110 tokens in, 60 of them sound and 10 cached; 90 out, 80 of them sound. */
export const REALTIME_USAGE = {
  total_tokens: 200,
  input_tokens: 110,
  output_tokens: 90,
  input_token_details: {
    text_tokens: 50,
    audio_tokens: 60,
    image_tokens: 0,
    cached_tokens: 10,
    cached_tokens_details: { text_tokens: 10, audio_tokens: 0, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 10, audio_tokens: 80 },
};
/** At the prices of `liveModels`. */
export const REALTIME_COST = 40 * 1_000 + 10 * 1_000 + 60 * 4_000 + 10 * 2_000 + 80 * 8_000;

let made = 0;
const eventId = (): string => `event_${++made}`;

/** Events of a host of Realtime. */
export const realtime = {
  created: () => ({
    type: "session.created",
    event_id: eventId(),
    session: {
      type: "realtime",
      object: "realtime.session",
      id: "sess_of_the_host",
      model: "upstream-live",
      output_modalities: ["audio"],
      instructions: "",
      tools: [],
      tool_choice: "auto",
      max_output_tokens: "inf",
      audio: {
        input: {
          format: { type: "audio/pcm", rate: 24_000 },
          transcription: null,
          noise_reduction: null,
          turn_detection: {
            type: "server_vad",
            threshold: 0.5,
            prefix_padding_ms: 300,
            silence_duration_ms: 200,
            create_response: true,
            interrupt_response: true,
          },
        },
        output: { format: { type: "audio/pcm", rate: 24_000 }, voice: "alloy", speed: 1 },
      },
    },
  }),
  began: (id: string) => ({
    type: "response.created",
    event_id: eventId(),
    response: { object: "realtime.response", id, status: "in_progress", output: [], metadata: null, usage: null },
  }),
  text: (id: string, delta: string) => ({
    type: "response.output_audio_transcript.delta",
    event_id: eventId(),
    response_id: id,
    item_id: `item_${id}`,
    output_index: 0,
    content_index: 0,
    delta,
  }),
  /** Of 24 kHz PCM. */
  audio: (id: string, seconds: number) => ({
    type: "response.output_audio.delta",
    event_id: eventId(),
    response_id: id,
    item_id: `item_${id}`,
    output_index: 0,
    content_index: 0,
    delta: Buffer.alloc(Math.round(seconds * 48_000)).toString("base64"),
  }),
  done: (id: string, status = "completed", usage: object | null = REALTIME_USAGE) => ({
    type: "response.done",
    event_id: eventId(),
    response: {
      object: "realtime.response",
      id,
      status,
      status_details: status === "completed" ? null : { type: status, reason: "client_cancelled" },
      output: [],
      metadata: null,
      usage,
    },
  }),
  /** What a client says to send speech. */
  speech: (seconds: number) => ({
    type: "input_audio_buffer.append",
    audio: Buffer.alloc(Math.round(seconds * 48_000)).toString("base64"),
  }),
};

/** A host of Realtime that opens sessions, and answers each request for a response at once if `answers`. */
export function realtimeHost({ answers = false, usage = REALTIME_USAGE as object | null } = {}): HostScript {
  let turns = 0;
  let running: string | undefined;
  return {
    asked: (host) => {
      host.accept();
      host.say(realtime.created());
    },
    heard: (host, event) => {
      const { type } = event;
      if (type === "response.cancel" && running !== undefined) {
        host.say(realtime.done(running, "cancelled", usage));
        running = undefined;
      }
      if (type !== "response.create" || !answers) return;
      const id = `resp_${++turns}`;
      host.say(
        realtime.began(id),
        realtime.text(id, "It is so."),
        realtime.audio(id, 1),
        realtime.done(id, "completed", usage),
      );
    },
  };
}

/** What a host of Live reports: 100 tokens in, all of them sound, and 50 out, all of them sound. */
export const LIVE_USAGE = {
  promptTokenCount: 100,
  responseTokenCount: 50,
  totalTokenCount: 150,
  promptTokensDetails: [{ modality: "AUDIO", tokenCount: 100 }],
  responseTokensDetails: [{ modality: "AUDIO", tokenCount: 50 }],
};
export const LIVE_COST = 100 * 4_000 + 50 * 8_000;

/** Messages of a host of Live. */
export const live = {
  ready: () => ({ setupComplete: {} }),
  /** Of 24 kHz PCM. */
  audio: (seconds: number) => ({
    serverContent: {
      modelTurn: {
        parts: [
          {
            inlineData: {
              mimeType: "audio/pcm;rate=24000",
              data: Buffer.alloc(Math.round(seconds * 48_000)).toString("base64"),
            },
          },
        ],
      },
    },
  }),
  done: (usageMetadata: object | undefined = LIVE_USAGE) => ({
    serverContent: { turnComplete: true },
    ...(usageMetadata && { usageMetadata }),
  }),
  setup: (model: string) => ({
    setup: { model: `models/${model}`, generationConfig: { responseModalities: ["AUDIO"] } },
  }),
  say: (text: string) => ({
    clientContent: { turns: [{ role: "user", parts: [{ text }] }], turnComplete: true },
  }),
};

/** A host of Live that accepts every setup, and answers each turn of the client at once if `answers`. */
export function liveHost({ answers = false } = {}): HostScript {
  return {
    heard: (host: MemoryHost, event) => {
      if (event["setup"] !== undefined) host.say(live.ready());
      if (event["clientContent"] !== undefined && answers) host.say(live.audio(1), live.done());
    },
  };
}
