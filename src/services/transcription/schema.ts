import { Type } from "../../base/type.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { defineBodyCheck } from "../../media/check-body.ts";
import { TRANSCRIPT_FORMATS } from "./transcription-call.ts";

const shared = {
  model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
  prompt: Type.Optional(Type.String({ description: "Words that may occur in the recording, in its style." })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};

/** The fields of `audio/transcriptions`, apart from its file. */
export const TranscriptionFields = Type.Object(
  {
    ...shared,
    response_format: Type.Optional(Type.Enum([...TRANSCRIPT_FORMATS])),
    language: Type.Optional(Type.String({ description: "The language of the recording, such as `en`." })),
    stream: Type.Optional(Type.Boolean()),
    timestamp_granularities: Type.Optional(Type.Array(Type.Enum(["word", "segment"]))),
  },
  { title: "TranscriptionRequest" },
);

/** The fields of `audio/translations`, apart from its file. */
export const TranslationFields = Type.Object(
  { ...shared, response_format: Type.Optional(Type.Enum(["json", "text", "srt", "verbose_json", "vtt"])) },
  { title: "TranslationRequest" },
);

/** Formats with timestamps cannot contain words before their times are known. */
const NOT_STREAMED = ["srt", "vtt", "verbose_json"];

export const checkTranscription = defineBodyCheck(
  TranscriptionFields,
  ({ stream, response_format: format = "json", timestamp_granularities: granularities }) => {
    if (stream && NOT_STREAMED.includes(format)) {
      refuse("stream", `cannot be true with response_format "${format}"; use "json" or "text"`);
    }
    if (granularities !== undefined && format !== "verbose_json") {
      refuse("timestamp_granularities", 'requires response_format "verbose_json"');
    }
  },
);

export const checkTranslation = defineBodyCheck(TranslationFields, () => {});
