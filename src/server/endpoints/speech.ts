import { relaySpeech } from "../../relay/service/speech.ts";
import { SpeechRequestBody } from "../../services/speech/schema.ts";
import { incomingRequest } from "../incoming-request.ts";
import { type Answer, events } from "../openapi/operation.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import { SpeechEvent } from "../openapi/speech-answers.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths } from "./paths.ts";

const sound: Answer = { description: "The audio, as it is generated.", contentType: "audio/*" };

export const createSpeech: ClientEndpoint = {
  method: "POST",
  paths: chatPaths("/audio/speech"),
  id: "createSpeech",
  summary: "Generate speech from text",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: SpeechRequestBody,
  answers: [sound, events(SpeechEvent, "With `stream_format: sse`: events with chunks of the audio.")],
  handle: (routed, { gateway }) => relaySpeech(incomingRequest(routed), gateway),
};
