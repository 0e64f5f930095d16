import type { TSchema } from "typebox";
import { Type } from "../../src/base/type.ts";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import { Content } from "../../src/dialects/genai/schema/content.ts";
import { GenerationConfig } from "../../src/dialects/genai/schema/generation-config.ts";
import { GenerateContentRequest } from "../../src/dialects/genai/schema/request.ts";
import type { ImageRequest } from "../../src/media/image-request.ts";
import { createImageEventEncoder } from "../../src/media/images-api/image-events.ts";
import { ImageEditRequest, ImageGenerationRequest } from "../../src/media/images-api/schema.ts";
import {
  VideoCreateRequest,
  VideoEditRequest,
  VideoExtendRequest,
  VideoRemixRequest,
} from "../../src/media/videos-api/schema.ts";
import { CompactionRequest } from "../../src/services/compaction/schema.ts";
import { CompletionRequest } from "../../src/services/completion/schema.ts";
import { EmbeddingsRequest } from "../../src/services/embeddings/schema.ts";
import { ModerationRequest } from "../../src/services/moderation/schema.ts";
import { SpeechRequestBody } from "../../src/services/speech/schema.ts";
import { TranscriptionFields, TranslationFields } from "../../src/services/transcription/schema.ts";
import type { Root } from "../../testing/sdk-types/declared-type.ts";
import { DIALECT_KNOWLEDGE } from "./dialect-knowledge.ts";
import type { Vendor } from "./fact.ts";
import type { Knowledge } from "./knowledge.ts";
import type { Side } from "./survey.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** A type of a vendor's SDKs, and the protocol and side that it describes. */
export interface Subject extends Side {
  readonly typescript: Root;
  readonly python: Root;
}

/** File and type in TypeScript, then in Python. Without a second type both have the same name. */
type Row = readonly [side: Side["side"], typescript: string, type: string, python: string, pythonType?: string];

const subjectsOf = (vendor: Vendor, protocol: string, knowledge: Knowledge, rows: readonly Row[]): Subject[] =>
  rows.map(([side, file, type, pythonFile, pythonType = type]) => ({
    vendor,
    protocol,
    side,
    knowledge,
    typescript: { file: FOLDERS[vendor].typescript + file, type },
    python: { file: FOLDERS[vendor].python + pythonFile, type: pythonType },
  }));

const FOLDERS: Readonly<Record<Vendor, { typescript: string; python: string }>> = {
  OpenAI: { typescript: "openai/resources/", python: "openai/types/" },
  Anthropic: { typescript: "@anthropic-ai/sdk/resources/", python: "anthropic/types/" },
  Google: { typescript: "@google/genai/dist/", python: "google/genai/" },
};

/** A service with a schema for its requests, and code in its own folder and that of the vendor's adapters. */
const service = (folders: readonly string[], schema?: TSchema): Knowledge =>
  withoutAbsent({ vocabulary: vocabularyOf(["dialects/answer", ...folders]), schema });

const { chat, responses, messages, genai, interactions } = DIALECT_KNOWLEDGE;

/** The events that the gateway writes to streams of images. */
const IMAGE_EVENTS = [true, false].flatMap((edit) => {
  const encoder = createImageEventEncoder({ edit, call: {} } as unknown as ImageRequest, 0);
  const image = { base64: "", mimeType: "image/png" } as const;
  return [encoder.partial(image), encoder.completed(image)].map((text) => /^event: (.*)$/m.exec(text)?.[1] ?? "");
});
const images = (schema: TSchema): Knowledge => ({
  ...service(["media", "providers/openai"], schema),
  event: (type) => IMAGE_EVENTS.includes(type),
});

const videos = (schema: TSchema): Knowledge => service(["media/videos-api", "providers/openai"], schema);

const OPENAI: readonly Subject[] = [
  ...subjectsOf("OpenAI", "chat", chat, [
    [
      "request",
      "chat/completions/completions.d.ts",
      "ChatCompletionCreateParamsBase",
      "chat/completion_create_params.py",
      "CompletionCreateParamsBase",
    ],
    ["answer", "chat/completions/completions.d.ts", "ChatCompletion", "chat/chat_completion.py"],
    ["answer", "chat/completions/completions.d.ts", "ChatCompletionChunk", "chat/chat_completion_chunk.py"],
  ]),
  ...subjectsOf("OpenAI", "responses", responses, [
    ["request", "responses/responses.d.ts", "ResponseCreateParamsBase", "responses/response_create_params.py"],
    ["request", "beta/responses/responses.d.ts", "ResponseCreateParamsBase", "beta/response_create_params.py"],
    ["request", "responses/input-tokens.d.ts", "InputTokenCountParams", "responses/input_token_count_params.py"],
    ["answer", "responses/responses.d.ts", "Response", "responses/response.py"],
    ["answer", "beta/responses/responses.d.ts", "BetaResponse", "beta/beta_response.py"],
    ["events", "responses/responses.d.ts", "ResponseStreamEvent", "responses/response_stream_event.py"],
    ["events", "beta/responses/responses.d.ts", "BetaResponseStreamEvent", "beta/beta_response_stream_event.py"],
  ]),
  ...subjectsOf("OpenAI", "responses", { ...responses, schema: CompactionRequest }, [
    ["request", "responses/responses.d.ts", "ResponseCompactParams", "responses/response_compact_params.py"],
    ["answer", "responses/responses.d.ts", "CompactedResponse", "responses/compacted_response.py"],
  ]),
  ...subjectsOf("OpenAI", "images", images(ImageGenerationRequest), [
    ["request", "images.d.ts", "ImageGenerateParamsBase", "image_generate_params.py"],
    ["answer", "images.d.ts", "ImagesResponse", "images_response.py"],
    ["events", "images.d.ts", "ImageGenStreamEvent", "image_gen_stream_event.py"],
    ["events", "images.d.ts", "ImageEditStreamEvent", "image_edit_stream_event.py"],
  ]),
  ...subjectsOf("OpenAI", "image edits", images(ImageEditRequest), [
    ["request", "images.d.ts", "ImageEditParamsBase", "image_edit_params.py"],
  ]),
  ...subjectsOf("OpenAI", "videos", videos(VideoCreateRequest), [
    ["request", "videos.d.ts", "VideoCreateParams", "video_create_params.py"],
    ["answer", "videos.d.ts", "Video", "video.py"],
    ["answer", "videos.d.ts", "VideoDeleteResponse", "video_delete_response.py"],
  ]),
  ...subjectsOf("OpenAI", "videos", videos(VideoRemixRequest), [
    ["request", "videos.d.ts", "VideoRemixParams", "video_remix_params.py"],
  ]),
  ...subjectsOf("OpenAI", "videos", videos(VideoEditRequest), [
    ["request", "videos.d.ts", "VideoEditParams", "video_edit_params.py"],
  ]),
  ...subjectsOf("OpenAI", "videos", videos(VideoExtendRequest), [
    ["request", "videos.d.ts", "VideoExtendParams", "video_extend_params.py"],
  ]),
  ...subjectsOf("OpenAI", "embeddings", service(["services/embeddings", "providers/openai"], EmbeddingsRequest), [
    ["request", "embeddings.d.ts", "EmbeddingCreateParams", "embedding_create_params.py"],
    ["answer", "embeddings.d.ts", "CreateEmbeddingResponse", "create_embedding_response.py"],
  ]),
  ...subjectsOf("OpenAI", "speech", service(["services/speech", "providers/openai"], SpeechRequestBody), [
    ["request", "audio/speech.d.ts", "SpeechCreateParams", "audio/speech_create_params.py"],
  ]),
  ...subjectsOf(
    "OpenAI",
    "transcriptions",
    service(["services/transcription", "providers/openai"], TranscriptionFields),
    [
      ["request", "audio/transcriptions.d.ts", "TranscriptionCreateParamsBase", "audio/transcription_create_params.py"],
      ["answer", "audio/transcriptions.d.ts", "Transcription", "audio/transcription.py"],
      ["answer", "audio/transcriptions.d.ts", "TranscriptionVerbose", "audio/transcription_verbose.py"],
      ["answer", "audio/transcriptions.d.ts", "TranscriptionDiarized", "audio/transcription_diarized.py"],
      ["events", "audio/transcriptions.d.ts", "TranscriptionStreamEvent", "audio/transcription_stream_event.py"],
    ],
  ),
  ...subjectsOf("OpenAI", "translations", service(["services/transcription", "providers/openai"], TranslationFields), [
    ["request", "audio/translations.d.ts", "TranslationCreateParams", "audio/translation_create_params.py"],
  ]),
  ...subjectsOf("OpenAI", "moderations", service(["services/moderation", "providers/openai"], ModerationRequest), [
    ["request", "moderations.d.ts", "ModerationCreateParams", "moderation_create_params.py"],
  ]),
  ...subjectsOf(
    "OpenAI",
    "completions",
    {
      ...service(["services/completion", "providers/openai"], CompletionRequest),
      counter: (path) => chat.counter?.(path) ?? false,
    },
    [
      ["request", "completions.d.ts", "CompletionCreateParamsBase", "completion_create_params.py"],
      ["answer", "completions.d.ts", "Completion", "completion.py"],
    ],
  ),
];

const ANTHROPIC: readonly Subject[] = subjectsOf("Anthropic", "messages", messages, [
  ["request", "messages/messages.d.ts", "MessageCreateParamsBase", "message_create_params.py"],
  ["request", "beta/messages/messages.d.ts", "MessageCreateParamsBase", "beta/message_create_params.py"],
  ["answer", "messages/messages.d.ts", "Message", "message.py"],
  ["answer", "beta/messages/messages.d.ts", "BetaMessage", "beta/beta_message.py"],
  ["events", "messages/messages.d.ts", "RawMessageStreamEvent", "raw_message_stream_event.py"],
  ["events", "beta/messages/messages.d.ts", "BetaRawMessageStreamEvent", "beta/beta_raw_message_stream_event.py"],
]);

/** Settings of calls. The SDKs convert several forms of `systemInstruction` to contents, which are compared as such. */
const ofLibrary =
  /^(?:httpOptions|abortSignal|shouldReturnHttpResponse|sdkHttpResponse|parsed|automaticFunctionCalling(?:History)?|systemInstruction)$/;
const google: Knowledge = { ...genai, ofLibrary };

/** The SDK's settings, which it moves into the request and its `generationConfig`. */
const FLAT = Type.Object({ ...GenerateContentRequest.properties, ...GenerationConfig.properties });
const media: Knowledge = {
  ...service(["media", "services/embeddings", "dialects/genai", "providers/google"]),
  ofLibrary,
};

const GOOGLE: readonly Subject[] = [
  ...subjectsOf("Google", "genai", { ...google, schema: FLAT }, [
    ["request", "genai.d.ts", "GenerateContentConfig", "types.py"],
  ]),
  ...subjectsOf("Google", "genai", { ...google, schema: Content }, [["request", "genai.d.ts", "Content", "types.py"]]),
  ...subjectsOf("Google", "genai", google, [["answer", "genai.d.ts", "GenerateContentResponse", "types.py"]]),
  ...subjectsOf("Google", "interactions", { ...interactions, ofLibrary: /^(?:api_version|sdkHttpResponse|output_)/ }, [
    [
      "request",
      "genai.d.ts",
      "Interactions.InteractionCreateParams",
      "_gaos/types/interactions/createmodelinteraction.py",
      "CreateModelInteraction",
    ],
    ["answer", "genai.d.ts", "Interactions.Interaction", "_gaos/types/interactions/interaction.py", "Interaction"],
    [
      "events",
      "genai.d.ts",
      "Interactions.InteractionSSEEvent",
      "_gaos/types/interactions/interactionsseevent.py",
      "InteractionSSEEvent",
    ],
  ]),
  ...subjectsOf("Google", "images", media, [
    ["request", "genai.d.ts", "GenerateImagesConfig", "types.py"],
    ["request", "genai.d.ts", "EditImageConfig", "types.py"],
  ]),
  ...subjectsOf("Google", "videos", media, [["request", "genai.d.ts", "GenerateVideosConfig", "types.py"]]),
  ...subjectsOf("Google", "embeddings", media, [["request", "genai.d.ts", "EmbedContentConfig", "types.py"]]),
];

/** Everything that is compared. */
export const SUBJECTS: readonly Subject[] = [...OPENAI, ...ANTHROPIC, ...GOOGLE];
