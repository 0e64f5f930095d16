import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { withoutRouting } from "../without-routing.ts";
import { checkSpeech } from "./schema.ts";
import type { SpeechRequest } from "./speech-call.ts";

/** Reads and checks the body of `audio/speech`. The host judges other fields. */
export function decodeSpeech(body: JsonObject): SpeechRequest {
  const { model: _, input, voice, instructions, response_format, speed, stream_format, ...rest } = checkSpeech(body);
  return {
    call: withoutAbsent({
      input,
      voice,
      instructions,
      format: response_format,
      speed,
      extras: withoutRouting(rest),
    }),
    events: stream_format === "sse",
  };
}
