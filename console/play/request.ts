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

export interface AttachedImage {
  name: string;
  type: string;
  base64: string;
}

/** The settings of the playground, independent of the protocol. */
export interface PlaySettings {
  protocol: Protocol;
  model: string;
  system: string;
  prompt: string;
  attached: readonly AttachedImage[];
  maxTokens: number | undefined;
  temperature: number | undefined;
  stream: boolean;
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

const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));

const dataUrl = ({ type, base64 }: AttachedImage): string => `data:${type};base64,${base64}`;

const genaiPath = (model: string, verb: string): string => {
  const [publisher = "", name = ""] = model.split(/\/(.*)/s);
  return `/api/genai/v1/publishers/${encodeURIComponent(publisher)}/models/${encodeURIComponent(name)}:${verb}`;
};

function chat({ model, system, prompt, attached, maxTokens, temperature, stream }: PlaySettings): PlayRequest {
  const images = attached.map((image) => ({ type: "image_url", image_url: { url: dataUrl(image) } }));
  const content = images.length === 0 ? prompt : [{ type: "text", text: prompt }, ...images];
  const messages = [...(system === "" ? [] : [{ role: "system", content: system }]), { role: "user", content }];
  return {
    path: "/v1/chat/completions",
    body: given({ model, messages, max_completion_tokens: maxTokens, temperature, stream: stream || undefined }),
  };
}

function responses({ model, system, prompt, attached, maxTokens, temperature, stream }: PlaySettings): PlayRequest {
  const images = attached.map((image) => ({ type: "input_image", image_url: dataUrl(image) }));
  const input =
    images.length === 0 ? prompt : [{ role: "user", content: [{ type: "input_text", text: prompt }, ...images] }];
  return {
    path: "/v1/responses",
    body: given({
      model,
      instructions: system,
      input,
      max_output_tokens: maxTokens,
      temperature,
      stream: stream || undefined,
    }),
  };
}

function messages({ model, system, prompt, attached, maxTokens, temperature, stream }: PlaySettings): PlayRequest {
  const images = attached.map(({ type, base64 }) => ({
    type: "image",
    source: { type: "base64", media_type: type, data: base64 },
  }));
  const content = images.length === 0 ? prompt : [...images, { type: "text", text: prompt }];
  return {
    path: "/v1/messages",
    headers: { "anthropic-version": "2023-06-01" },
    body: given({
      model,
      system,
      messages: [{ role: "user", content }],
      max_tokens: maxTokens ?? USUAL_TOKENS,
      temperature,
      stream: stream || undefined,
    }),
  };
}

function genai({ model, system, prompt, attached, maxTokens, temperature, stream }: PlaySettings): PlayRequest {
  const images = attached.map(({ type, base64 }) => ({ inlineData: { mimeType: type, data: base64 } }));
  const generationConfig = given({ maxOutputTokens: maxTokens, temperature });
  return {
    path: genaiPath(model, stream ? "streamGenerateContent?alt=sse" : "generateContent"),
    body: given({
      systemInstruction: system === "" ? undefined : { parts: [{ text: system }] },
      contents: [{ role: "user", parts: [{ text: prompt }, ...images] }],
      generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
    }),
  };
}

function interactions({ model, system, prompt, attached, maxTokens, temperature, stream }: PlaySettings): PlayRequest {
  const images = attached.map(({ type, base64 }) => ({ type: "image", data: base64, mime_type: type }));
  const generation_config = given({ max_output_tokens: maxTokens, temperature });
  return {
    path: "/v1beta/interactions",
    body: given({
      model,
      system_instruction: system,
      input: images.length === 0 ? prompt : [{ type: "text", text: prompt }, ...images],
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
      return { path: "/v1/images/generations", body: { model, prompt, n: 1 } };
    case "video":
      return {
        path: genaiPath(model, "predictLongRunning"),
        body: { instances: [{ prompt }], parameters: { durationSeconds: 4 } },
      };
    case "embeddings":
      return { path: "/v1/embeddings", body: { model, input: prompt } };
    case "rerank": {
      const [query = "", ...documents] = prompt.split("\n").filter((line) => line.trim() !== "");
      return { path: "/v1/rerank", body: { model, query, documents: documents.length === 0 ? [query] : documents } };
    }
    case "moderation":
      return { path: "/v1/moderations", body: { model, input: prompt } };
    case "speech":
      return { path: "/v1/audio/speech", body: { model, input: prompt, voice: "alloy" } };
  }
}

/** The request that polls a submitted video. */
export const pollOf = (model: string, operationName: string): PlayRequest => ({
  path: genaiPath(model, "fetchPredictOperation"),
  body: { operationName },
});
