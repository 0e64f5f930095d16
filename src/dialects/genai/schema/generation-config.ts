import { Type } from "../../../base/type.ts";
import { openObject, unlisted } from "../../reading/schema-builders.ts";
import { GenaiSchema } from "./json-schema.ts";

/** Words that the contract lists, or others that the vendor added since. */
const wordOf = <const W extends string>(listed: W[]) =>
  Type.Union([Type.Enum(listed), Type.String({ minLength: 1, ...unlisted })]);

const penalty = Type.Optional(Type.Number({ minimum: -2, exclusiveMaximum: 2 }));
const flag = Type.Optional(Type.Boolean());

const ThinkingConfig = Type.Object({
  thinkingBudget: Type.Optional(Type.Integer({ minimum: -1, description: "-1 lets the model decide." })),
  thinkingLevel: Type.Optional(wordOf(["THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"])),
  includeThoughts: flag,
});

const VoiceConfig = Type.Object({
  prebuiltVoiceConfig: Type.Optional(Type.Object({ voiceName: Type.Optional(Type.String()) })),
  replicatedVoiceConfig: Type.Optional(
    Type.Object({
      mimeType: Type.Optional(Type.Literal("audio/wav")),
      voiceSample: Type.Optional(Type.String({ description: "Base64; 16-bit signed little-endian, 24 kHz." })),
    }),
  ),
});

const SpeechConfig = Type.Object({
  voiceConfig: Type.Optional(VoiceConfig),
  multiSpeakerVoiceConfig: Type.Optional(
    Type.Object({
      speakerVoiceConfigs: Type.Array(Type.Object({ speaker: Type.String(), voiceConfig: Type.Optional(VoiceConfig) })),
    }),
  ),
  languageCode: Type.Optional(Type.String()),
});

const RoutingConfig = Type.Object(
  {
    autoMode: Type.Optional(Type.Object({ modelRoutingPreference: Type.Optional(Type.String()) })),
    manualMode: Type.Optional(Type.Object({ modelName: Type.Optional(Type.String()) })),
  },
  { deprecated: true },
);

const compressionQuality = Type.Optional(Type.Number({ minimum: 0, maximum: 100 }));

const ImageConfig = Type.Object({
  aspectRatio: Type.Optional(wordOf(["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"])),
  imageSize: Type.Optional(wordOf(["1K", "2K", "4K"])),
  outputMimeType: Type.Optional(Type.String()),
  outputCompressionQuality: compressionQuality,
  imageOutputOptions: Type.Optional(Type.Object({ mimeType: Type.Optional(Type.String()), compressionQuality })),
});

export const GenerationConfig = Type.Object(
  {
    temperature: Type.Optional(Type.Number()),
    topP: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    topK: Type.Optional(Type.Integer()),
    candidateCount: Type.Optional(Type.Integer({ minimum: 1, maximum: 8 })),
    maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1 })),
    stopSequences: Type.Optional(Type.Array(Type.String(), { maxItems: 5 })),
    presencePenalty: penalty,
    frequencyPenalty: penalty,
    seed: Type.Optional(Type.Integer()),
    responseMimeType: Type.Optional(Type.Enum(["text/plain", "application/json", "text/x.enum"])),
    responseSchema: Type.Optional(GenaiSchema),
    responseJsonSchema: Type.Optional(openObject()),
    responseLogprobs: flag,
    logprobs: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
    responseModalities: Type.Optional(Type.Array(wordOf(["TEXT", "IMAGE", "AUDIO"]))),
    audioTimestamp: flag,
    thinkingConfig: Type.Optional(ThinkingConfig),
    mediaResolution: Type.Optional(
      Type.Enum([
        "MEDIA_RESOLUTION_UNSPECIFIED",
        "MEDIA_RESOLUTION_LOW",
        "MEDIA_RESOLUTION_MEDIUM",
        "MEDIA_RESOLUTION_HIGH",
        "MEDIA_RESOLUTION_ULTRA_HIGH",
      ]),
    ),
    speechConfig: Type.Optional(SpeechConfig),
    routingConfig: Type.Optional(RoutingConfig),
    imageConfig: Type.Optional(ImageConfig),
    enableAffectiveDialog: flag,
  },
  { title: "GenaiGenerationConfig" },
);
