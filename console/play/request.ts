/** The protocols in which a model can be called. */
export type Protocol =
  | "chat"
  | "responses"
  | "messages"
  | "genai"
  | "interactions"
  | "images"
  | "video"
  | "embeddings"
  | "rerank"
  | "moderation"
  | "speech";

export interface Attached {
  name: string;
  /** An image, or `application/pdf`. */
  type: string;
  base64: string;
}

/** A prompt and what the model answered to it. */
export interface PastTurn {
  prompt: string;
  attached: readonly Attached[];
  answer: string;
}

/** The settings of the playground, independent of the protocol. Each kind of model has its own. */
export interface PlaySettings {
  protocol: Protocol;
  model: string;
  /** Earlier turns of the conversation. */
  history: readonly PastTurn[];
  prompt: string;
  attached: readonly Attached[];
  system: string;
  maxTokens: number | undefined;
  temperature: number | undefined;
  stream: boolean;
  /** Images. */
  count: number | undefined;
  size: string;
  quality: string;
  /** Videos. */
  seconds: number | undefined;
  aspectRatio: string;
  resolution: string;
  /** Speech. */
  voice: string;
  format: string;
  /** Embeddings. */
  dimensions: number | undefined;
}

export interface PlayRequest {
  /** The path on the client listener. */
  path: string;
  /** Headers in addition to those of every request. */
  headers?: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
}

const BY_KIND: Readonly<Record<string, readonly Protocol[]>> = {
  text: ["chat", "responses", "messages", "genai", "interactions"],
  image: ["images"],
  video: ["video"],
  embedding: ["embeddings"],
  rerank: ["rerank"],
  moderation: ["moderation"],
  speech: ["speech"],
};

/** The protocols in which a model of this kind can be tried. Transcription needs a file upload, which the playground does not have. */
export const protocolsOf = (kind: string): readonly Protocol[] => BY_KIND[kind] ?? [];

interface Capabilities {
  kind: string;
  input_modalities: readonly string[];
  output_modalities: readonly string[];
  offers: readonly { dialect: string | null }[];
}

const isLive = ({ dialect }: { dialect: string | null }): boolean => dialect === "realtime" || dialect === "live";

/** Whether a conversation with the model can be spoken. */
export const canTalk = ({ kind, input_modalities: hears, output_modalities: speaks, offers }: Capabilities): boolean =>
  offers.some(isLive) || (kind === "text" && hears.includes("audio") && speaks.includes("audio"));

/** Whether the model has no other protocols. */
export const onlyTalks = ({ offers }: Capabilities): boolean => offers.length > 0 && offers.every(isLive);

/** The messages protocol requires a limit. */
const USUAL_TOKENS = 1024;
const USUAL_SECONDS = 4;
const USUAL_VOICE = "alloy";

const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));

const dataUrl = ({ type, base64 }: Attached): string => `data:${type};base64,${base64}`;
const isImage = ({ type }: Attached): boolean => type.startsWith("image/");

const genaiPath = (model: string, verb: string): string => {
  const [publisher = "", name = ""] = model.split(/\/(.*)/s);
  return `/api/genai/v1/publishers/${encodeURIComponent(publisher)}/models/${encodeURIComponent(name)}:${verb}`;
};

type Message = Record<string, unknown>;
type Parts = (prompt: string, attached: readonly Attached[]) => unknown;

/** The turns as messages: those of the user by `parts`, those of the model by `said`. Turns without a known prompt or an answer are left out. */
function conversation(
  { history, prompt, attached }: PlaySettings,
  parts: Parts,
  said: (answer: string) => Message,
  asked: (content: unknown) => Message = (content) => ({ role: "user", content }),
): Message[] {
  const past = history
    .filter(({ prompt: asks, answer }) => asks !== "" && answer !== "")
    .flatMap((turn) => [asked(parts(turn.prompt, turn.attached)), said(turn.answer)]);
  return [...past, asked(parts(prompt, attached))];
}

function chat(settings: PlaySettings): PlayRequest {
  const { model, system, maxTokens, temperature, stream } = settings;
  const parts: Parts = (prompt, attached) =>
    attached.length === 0
      ? prompt
      : [
          { type: "text", text: prompt },
          ...attached.map((one) =>
            isImage(one)
              ? { type: "image_url", image_url: { url: dataUrl(one) } }
              : { type: "file", file: { filename: one.name, file_data: dataUrl(one) } },
          ),
        ];
  const turns = conversation(settings, parts, (content) => ({ role: "assistant", content }));
  return {
    path: "/v1/chat/completions",
    body: given({
      model,
      messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...turns],
      max_completion_tokens: maxTokens,
      temperature,
      stream: stream || undefined,
    }),
  };
}

function responses(settings: PlaySettings): PlayRequest {
  const { model, system, history, prompt, attached, maxTokens, temperature, stream } = settings;
  const parts: Parts = (text, files) =>
    files.length === 0
      ? text
      : [
          { type: "input_text", text },
          ...files.map((one) =>
            isImage(one)
              ? { type: "input_image", image_url: dataUrl(one) }
              : { type: "input_file", filename: one.name, file_data: dataUrl(one) },
          ),
        ];
  const isPlain = history.length === 0 && attached.length === 0;
  return {
    path: "/v1/responses",
    body: given({
      model,
      instructions: system,
      input: isPlain ? prompt : conversation(settings, parts, (content) => ({ role: "assistant", content })),
      max_output_tokens: maxTokens,
      temperature,
      stream: stream || undefined,
    }),
  };
}

function messages(settings: PlaySettings): PlayRequest {
  const { model, system, maxTokens, temperature, stream } = settings;
  const parts: Parts = (prompt, attached) =>
    attached.length === 0
      ? prompt
      : [
          ...attached.map((one) => ({
            type: isImage(one) ? "image" : "document",
            source: { type: "base64", media_type: one.type, data: one.base64 },
          })),
          { type: "text", text: prompt },
        ];
  return {
    path: "/v1/messages",
    headers: { "anthropic-version": "2023-06-01" },
    body: given({
      model,
      system,
      messages: conversation(settings, parts, (content) => ({ role: "assistant", content })),
      max_tokens: maxTokens ?? USUAL_TOKENS,
      temperature,
      stream: stream || undefined,
    }),
  };
}

function genai(settings: PlaySettings): PlayRequest {
  const { model, system, maxTokens, temperature, stream } = settings;
  const parts: Parts = (text, attached) => [
    { text },
    ...attached.map(({ type, base64 }) => ({ inlineData: { mimeType: type, data: base64 } })),
  ];
  const generationConfig = given({ maxOutputTokens: maxTokens, temperature });
  return {
    path: genaiPath(model, stream ? "streamGenerateContent?alt=sse" : "generateContent"),
    body: given({
      systemInstruction: system === "" ? undefined : { parts: [{ text: system }] },
      contents: conversation(
        settings,
        parts,
        (text) => ({ role: "model", parts: [{ text }] }),
        (content) => ({ role: "user", parts: content }),
      ),
      generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
    }),
  };
}

function interactions(settings: PlaySettings): PlayRequest {
  const { model, system, history, prompt, attached, maxTokens, temperature, stream } = settings;
  const parts = (text: string, files: readonly Attached[]) => [
    { type: "text", text },
    ...files.map((one) => ({ type: isImage(one) ? "image" : "document", data: one.base64, mime_type: one.type })),
  ];
  const steps = conversation(
    settings,
    parts,
    (text) => ({ type: "model_output", content: [{ type: "text", text }] }),
    (content) => ({ type: "user_input", content }),
  );
  const generation_config = given({ max_output_tokens: maxTokens, temperature });
  const isPlain = history.length === 0 && attached.length === 0;
  return {
    path: "/v1beta/interactions",
    body: given({
      model,
      system_instruction: system,
      input: isPlain ? prompt : history.length === 0 ? parts(prompt, attached) : steps,
      generation_config: Object.keys(generation_config).length === 0 ? undefined : generation_config,
      stream: stream || undefined,
    }),
  };
}

/** Builds the request that a client of the protocol would send. */
export function requestOf(settings: PlaySettings): PlayRequest {
  const { protocol, model, prompt } = settings;
  switch (protocol) {
    case "chat":
      return chat(settings);
    case "responses":
      return responses(settings);
    case "messages":
      return messages(settings);
    case "genai":
      return genai(settings);
    case "interactions":
      return interactions(settings);
    case "images":
      return {
        path: "/v1/images/generations",
        body: given({ model, prompt, n: settings.count ?? 1, size: settings.size, quality: settings.quality }),
      };
    case "video":
      return {
        path: genaiPath(model, "predictLongRunning"),
        body: {
          instances: [{ prompt }],
          parameters: given({
            durationSeconds: settings.seconds ?? USUAL_SECONDS,
            aspectRatio: settings.aspectRatio,
            resolution: settings.resolution,
          }),
        },
      };
    case "embeddings":
      return { path: "/v1/embeddings", body: given({ model, input: prompt, dimensions: settings.dimensions }) };
    case "rerank": {
      const [query = "", ...documents] = prompt.split("\n").filter((line) => line.trim() !== "");
      return { path: "/v1/rerank", body: { model, query, documents: documents.length === 0 ? [query] : documents } };
    }
    case "moderation":
      return { path: "/v1/moderations", body: { model, input: prompt } };
    case "speech":
      return {
        path: "/v1/audio/speech",
        body: given({ model, input: prompt, voice: settings.voice || USUAL_VOICE, response_format: settings.format }),
      };
  }
}

/** The request that polls a submitted video. */
export const pollOf = (model: string, operationName: string): PlayRequest => ({
  path: genaiPath(model, "fetchPredictOperation"),
  body: { operationName },
});

const KEPT: readonly Protocol[] = ["chat", "responses", "messages", "genai", "interactions"];

/** Whether requests of the protocol have the earlier turns. */
export const hasTurns = (protocol: Protocol): boolean => KEPT.includes(protocol);
