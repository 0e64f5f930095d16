import { Type } from "../../base/type.ts";
import { EXPECTED } from "../../dialects/reading/schema-builders.ts";
import { defineBodyCheck } from "../../media/check-body.ts";
import { SPEECH_FORMATS } from "./speech-call.ts";

/** `audio/speech`. */
export const SpeechRequestBody = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
    input: Type.String({ minLength: 1, description: "The text to speak. The maximum length depends on the model." }),
    voice: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), Type.Object({ id: Type.String({ minLength: 1 }) })], {
        [EXPECTED]: 'the name of a voice, such as "alloy", or an object with its id',
      }),
    ),
    instructions: Type.Optional(Type.String({ description: "How to speak the text." })),
    response_format: Type.Optional(Type.Enum([...SPEECH_FORMATS])),
    speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })),
    stream_format: Type.Optional(
      Type.Enum(["audio", "sse"], {
        description: "`audio`: the audio as it is generated; `sse`: events with parts of it.",
      }),
    ),
  },
  { title: "SpeechRequest" },
);

export const checkSpeech = defineBodyCheck(SpeechRequestBody, () => {});
