import { DIALECT_NAMES } from "../canon/dialect-name.ts";
import type { ProviderSummary } from "./catalogue.ts";
import type { Modality } from "./model.ts";

export interface SimulatedTextModel {
  name: string;
  displayName: string;
  description: string;
  reasoning: boolean;
  contextLength: number;
  maxOutputTokens: number;
  inputModalities: readonly Modality[];
  outputModalities: readonly Modality[];
}

/** A text model in the catalogue and in the model lists of the simulated hosts. */
export function describeTextModel(name: string, description: string, reasoning = false): SimulatedTextModel {
  const words = name.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return {
    name,
    displayName: `Simulator ${words.join(" ")}`,
    description: `A simulator, not a model: ${description}.`,
    reasoning,
    contextLength: 200_000,
    maxOutputTokens: 64_000,
    inputModalities: ["text", "image", "file", "audio"],
    outputModalities: ["text"],
  };
}

/** The listed names. Names with a number at their end take any other number too. */
export const SIMULATED_TEXT_MODELS: readonly SimulatedTextModel[] = [
  describeTextModel(
    "standard",
    "derives its response from the request; the same request always gets the same response",
  ),
  describeTextModel("thinker", "like standard, with thinking if requested", true),
  describeTextModel(
    "strict-thinker",
    "like thinker, but requires its thinking and signatures to be returned in tool turns",
    true,
  ),
  describeTextModel("reasoner-strict", "hides its thinking and rejects sampling parameters", true),
  describeTextModel("slow", "like standard, at 40 tokens per second"),
  describeTextModel(
    "agent",
    "imitates a model for coding agents: reads a file, writes another, and requires its thinking to be returned",
    true,
  ),
  {
    ...describeTextModel("talker", "like standard, with spoken output if the modalities include audio"),
    outputModalities: ["text", "audio"],
  },
  describeTextModel("fail-400", "returns HTTP 400"),
  describeTextModel("fail-401", "returns HTTP 401"),
  describeTextModel("fail-403", "returns HTTP 403"),
  describeTextModel("fail-404", "returns HTTP 404"),
  describeTextModel("fail-413", "returns HTTP 413"),
  describeTextModel("fail-429", "returns HTTP 429 with retry-after set to one second"),
  describeTextModel("fail-429-quota", "returns HTTP 429 because the account is out of quota"),
  describeTextModel("fail-500", "returns HTTP 500"),
  describeTextModel("fail-503", "returns HTTP 503"),
  describeTextModel("fail-529", "returns HTTP 529"),
  describeTextModel("slow-first-byte", "sends nothing for 20 seconds, then responds"),
  describeTextModel("slow-first-byte-3", "sends nothing for 3 seconds, then responds"),
  describeTextModel("slow-headers-3", "sends its headers after 3 seconds, together with the response"),
  describeTextModel("silent-3", "sends its headers and one byte, pauses for 3 seconds, then responds"),
  describeTextModel("stall-mid-stream", "stops in the middle of its response and waits until the client disconnects"),
  describeTextModel("cut-before-first", "drops the connection before it sends anything"),
  describeTextModel("cut-mid-event", "drops the connection in the middle of an event"),
  describeTextModel("cut-mid-stream", "drops the connection between two events"),
  describeTextModel("close-mid-stream", "ends its response cleanly, but without the terminal event"),
  describeTextModel("error-in-stream", "sends an error event in the middle of its response"),
  describeTextModel("error-first-event", "returns HTTP 200 with an error as its first event"),
  describeTextModel("garbage", "returns HTTP 200 with an HTML page"),
  describeTextModel("garbage-in-stream", "sends a frame that is not JSON in the middle of its response"),
  describeTextModel("empty", "returns an empty response that is complete"),
  describeTextModel("refusal", "refuses to answer"),
  describeTextModel("blocked-prompt", "reports that the prompt was blocked"),
  describeTextModel("max-tokens", "is truncated by its output limit"),
  describeTextModel("huge", "returns two million characters"),
  describeTextModel("drip", "sends its response one byte at a time"),
  describeTextModel("crlf", "ends its lines with CR LF"),
  describeTextModel("flaky-1", "fails with HTTP 503 once per key, then succeeds once, and repeats"),
  describeTextModel("flaky-2", "fails with HTTP 503 twice per key, then succeeds once, and repeats"),
  describeTextModel("echo-request", "returns a JSON summary of the received request"),
  describeTextModel("parallel-same-index", "calls tools in parallel, all with index 0, on the chat wire"),
  describeTextModel("no-usage", "never reports usage"),
  describeTextModel("no-done", "omits the final [DONE] on the chat wire"),
];

/** Invented prices, so that receipts and budgets can be tried out. */
const SIMULATED_PRICES = {
  prompt: [{ value: 1, unit: "perMTokens" as const, currency: "USD" as const }],
  completion: [{ value: 2, unit: "perMTokens" as const, currency: "USD" as const }],
  input_cache_read: [{ value: 0.1, unit: "perMTokens" as const, currency: "USD" as const }],
  cache_storage: [{ value: 1, unit: "perMTokenHours" as const, currency: "USD" as const }],
};

const usd = (value: number, unit: "perCount" | "perSecond" | "perMCharacters") => [
  { value, unit, currency: "USD" as const },
];

/** Images and videos that show the request. */
const SIMULATED_MEDIA: NonNullable<ProviderSummary["models"]> = [
  {
    id: "sim/image",
    upstreamModel: "image",
    displayName: "Simulator Image",
    description: "A simulator, not a model: draws images that show the prompt, the size and the seed.",
    inputModalities: ["text", "image"],
    outputModalities: ["image"],
    reasoning: false,
    kind: "image",
    pricings: { image: usd(0.01, "perCount") },
  },
  {
    id: "sim/video",
    upstreamModel: "video",
    displayName: "Simulator Video",
    description: "A simulator, not a model: makes videos that show the prompt, the size and the time.",
    inputModalities: ["text", "image"],
    outputModalities: ["video", "audio"],
    reasoning: false,
    kind: "video",
    pricings: { video: usd(0.01, "perSecond"), audio_and_video: usd(0.02, "perSecond") },
  },
];

/** Vectors and rankings by the words of a text. */
const SIMULATED_SERVICES: NonNullable<ProviderSummary["models"]> = [
  {
    id: "sim/embedding",
    upstreamModel: "embedding",
    displayName: "Simulator Embedding",
    description: "A simulator, not a model: returns vectors that are similar if the texts share words.",
    contextLength: 8192,
    inputModalities: ["text"],
    outputModalities: ["embeddings"],
    reasoning: false,
    kind: "embedding",
    pricings: { prompt: SIMULATED_PRICES.prompt },
  },
  {
    id: "sim/rerank",
    upstreamModel: "rerank",
    displayName: "Simulator Rerank",
    description: "A simulator, not a model: ranks documents by the words that they share with the query.",
    contextLength: 4096,
    inputModalities: ["text"],
    outputModalities: ["rerank"],
    reasoning: false,
    kind: "rerank",
    pricings: { search_unit: usd(0.002, "perCount") },
  },
];

/** Sound that can be understood again, and a moderator without judgement. */
const SIMULATED_SOUND: NonNullable<ProviderSummary["models"]> = [
  {
    id: "sim/voice",
    upstreamModel: "voice",
    displayName: "Simulator Voice",
    description: "A simulator, not a model: speaks a text in tones that sim/transcriber understands.",
    inputModalities: ["text"],
    outputModalities: ["audio"],
    reasoning: false,
    kind: "speech",
    pricings: { characters: usd(10, "perMCharacters") },
  },
  {
    id: "sim/transcriber",
    upstreamModel: "transcriber",
    displayName: "Simulator Transcriber",
    description: "A simulator, not a model: transcribes the speech of sim/voice.",
    inputModalities: ["audio"],
    outputModalities: ["transcription"],
    reasoning: false,
    kind: "transcription",
    pricings: { audio: usd(0.0001, "perSecond") },
  },
  {
    id: "sim/moderation",
    upstreamModel: "moderation",
    displayName: "Simulator Moderation",
    description: "A simulator, not a model: flags texts that contain sim:flagged.",
    inputModalities: ["text", "image"],
    outputModalities: ["moderation"],
    reasoning: false,
    kind: "moderation",
    pricings: {},
    free: true,
  },
];

/** Sound costs more than text, as it does elsewhere. */
const LIVE_PRICES = {
  prompt: SIMULATED_PRICES.prompt,
  completion: SIMULATED_PRICES.completion,
  input_cache_read: SIMULATED_PRICES.input_cache_read,
  audio: [{ value: 4, unit: "perMTokens" as const, currency: "USD" as const }],
  audio_output: [{ value: 8, unit: "perMTokens" as const, currency: "USD" as const }],
};

/** Models of live connections, each at a host that speaks one protocol. */
const SIMULATED_LIVE: NonNullable<ProviderSummary["models"]> = (
  [
    ["realtime", "Simulator Realtime", "as OpenAI's Realtime API does"],
    ["live", "Simulator Live", "as Google's Live API does"],
  ] as const
).map(([dialect, displayName, like]) => ({
  id: `sim/${dialect}`,
  upstreamModel: dialect,
  displayName,
  description: `A simulator, not a model: listens and speaks on live connections, ${like}; it understands the speech of sim/voice.`,
  contextLength: 32_000,
  maxOutputTokens: 4_096,
  inputModalities: ["text", "audio", "image"],
  outputModalities: ["text", "audio"],
  reasoning: false,
  kind: "text",
  dialect,
  onlyByName: true,
  pricings: LIVE_PRICES,
  // The simulator understands its own speech without another model.
  tools: [{ name: "transcription:gpt-4o-mini-transcribe", unit: "call", usd: 0 }],
}));

/** Names that these models had before; they still work. */
export const SIMULATED_ALIASES: Readonly<Record<string, string>> = {
  "sim/picture": "sim/image",
  "sim/film": "sim/video",
};

/** What the built-in simulator offers, as the catalogue takes it. */
export function simulatedModels(): NonNullable<ProviderSummary["models"]> {
  const models = SIMULATED_TEXT_MODELS.map(({ name, ...facts }) => ({
    ...facts,
    id: `sim/${name}`,
    upstreamModel: name,
    kind: "text" as const,
    quality: 1,
    // Automatic routing chooses neither simulated errors nor, if there is a real model, the simulator.
    ...(name === "standard" ? {} : { onlyByName: true }),
    pricings: SIMULATED_PRICES,
  }));
  // The simulator speaks every protocol: a model that speaks one alone lets clients of the others try the translation.
  const single = models.slice(0, 1).flatMap(({ id, displayName, ...standard }) =>
    DIALECT_NAMES.map((dialect) => ({
      ...standard,
      onlyByName: true,
      id: `${id}-${dialect}`,
      displayName: `${displayName} (${dialect} alone)`,
      dialect,
    })),
  );
  return [...models, ...single, ...SIMULATED_MEDIA, ...SIMULATED_SERVICES, ...SIMULATED_SOUND, ...SIMULATED_LIVE];
}
