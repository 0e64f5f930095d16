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

/** What the catalogue, and the model lists of the simulated hosts, say of a text model. */
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
  describeTextModel("standard", "answers from what the request holds, always the same for the same request"),
  describeTextModel("thinker", "as standard, with thinking when it is asked for", true),
  describeTextModel("strict-thinker", "as thinker, and demands its thinking and signatures back in tool turns", true),
  describeTextModel("reasoner-strict", "thinks unseen, and refuses sampling parameters", true),
  describeTextModel("slow", "as standard, at 40 tokens a second"),
  describeTextModel(
    "agent",
    "plays a model for coding agents: reads a file, writes another, demands its thinking back",
    true,
  ),
  {
    ...describeTextModel("talker", "as standard, and says its answer aloud where modalities ask for audio"),
    outputModalities: ["text", "audio"],
  },
  describeTextModel("fail-400", "answers HTTP 400"),
  describeTextModel("fail-401", "answers HTTP 401"),
  describeTextModel("fail-403", "answers HTTP 403"),
  describeTextModel("fail-404", "answers HTTP 404"),
  describeTextModel("fail-413", "answers HTTP 413"),
  describeTextModel("fail-429", "answers HTTP 429 with a hint to retry after one second"),
  describeTextModel("fail-429-quota", "answers HTTP 429 that says the account is out of quota"),
  describeTextModel("fail-500", "answers HTTP 500"),
  describeTextModel("fail-503", "answers HTTP 503"),
  describeTextModel("fail-529", "answers HTTP 529"),
  describeTextModel("slow-first-byte", "sends nothing at all for 20 seconds, then answers"),
  describeTextModel("slow-first-byte-3", "sends nothing at all for 3 seconds, then answers"),
  describeTextModel("slow-headers-3", "sends its headers after 3 seconds, with the answer"),
  describeTextModel("silent-3", "sends its headers and one byte, is silent for 3 seconds, then answers"),
  describeTextModel("stall-mid-stream", "stops in the middle of its answer and waits until the caller leaves"),
  describeTextModel("cut-before-first", "drops the connection before it has answered anything"),
  describeTextModel("cut-mid-event", "drops the connection in the middle of an event"),
  describeTextModel("cut-mid-stream", "drops the connection between two events"),
  describeTextModel("close-mid-stream", "ends its answer politely, without the terminal event"),
  describeTextModel("error-in-stream", "sends an error event in the middle of its answer"),
  describeTextModel("error-first-event", "answers HTTP 200 and an error as its first event"),
  describeTextModel("garbage", "answers HTTP 200 with a page of HTML"),
  describeTextModel("garbage-in-stream", "sends a frame that is not JSON in the middle of its answer"),
  describeTextModel("empty", "answers nothing, and says that it is done"),
  describeTextModel("refusal", "declines to answer"),
  describeTextModel("blocked-prompt", "says that the prompt was blocked"),
  describeTextModel("max-tokens", "is cut short by its output limit"),
  describeTextModel("huge", "answers two million characters"),
  describeTextModel("drip", "sends its answer one byte at a time"),
  describeTextModel("crlf", "ends its lines with CR LF"),
  describeTextModel("flaky-1", "fails with HTTP 503 once for each key, then works once, and so on"),
  describeTextModel("flaky-2", "fails with HTTP 503 twice for each key, then works once, and so on"),
  describeTextModel("echo-request", "answers with a JSON summary of the request that arrived"),
  describeTextModel("parallel-same-index", "calls tools in parallel, all with index 0, on the chat wire"),
  describeTextModel("no-usage", "never says what was used"),
  describeTextModel("no-done", "leaves out the last [DONE] on the chat wire"),
];

/** Made up, so that receipts and budgets can be tried out. */
const SIMULATED_PRICES = {
  prompt: [{ value: 1, unit: "perMTokens" as const, currency: "USD" as const }],
  completion: [{ value: 2, unit: "perMTokens" as const, currency: "USD" as const }],
  input_cache_read: [{ value: 0.1, unit: "perMTokens" as const, currency: "USD" as const }],
};

const usd = (value: number, unit: "perCount" | "perSecond" | "perMCharacters") => [
  { value, unit, currency: "USD" as const },
];

/** Images and videos that show what was asked for. */
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
    description: "A simulator, not a model: makes vectors that are alike where texts share words.",
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
    description: "A simulator, not a model: says a text in tones that sim/transcriber understands.",
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
    description: "A simulator, not a model: writes down what sim/voice has said.",
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
    description: "A simulator, not a model: flags a text that says sim:flagged.",
    inputModalities: ["text", "image"],
    outputModalities: ["moderation"],
    reasoning: false,
    kind: "moderation",
    pricings: {},
    free: true,
  },
];

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
    // A caller who lets the gateway choose wants no simulated error, and no simulator where there is a model.
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
  return [...models, ...single, ...SIMULATED_MEDIA, ...SIMULATED_SERVICES, ...SIMULATED_SOUND];
}
