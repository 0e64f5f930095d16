import { Type } from "../../base/type.ts";
import { relayTranscription } from "../../relay/service/transcriptions.ts";
import { TranscriptionFields, TranslationFields } from "../../services/transcription/schema.ts";
import { incomingRequest } from "../incoming-request.ts";
import { type Answer, events, json } from "../openapi/operation.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import { TranscriptAnswer, TranscriptEvent } from "../openapi/speech-answers.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths } from "./paths.ts";

const recording = Type.Unsafe<string>({ type: "string", format: "binary", description: "The audio file." });

const plain: Answer = {
  description: "With `response_format` text, srt or vtt: the text, or subtitles.",
  contentType: "text/plain",
  schema: Type.String(),
};

export const createTranscription: ClientEndpoint = {
  method: "POST",
  paths: chatPaths("/audio/transcriptions"),
  id: "createTranscription",
  summary: "Transcribe audio",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  form: Type.Object({ file: recording, ...TranscriptionFields.properties }, { title: "TranscriptionForm" }),
  answers: [
    json(TranscriptAnswer, "The transcript."),
    plain,
    events(TranscriptEvent, "With `stream`: events with parts of the text."),
  ],
  handle: (routed, { gateway }) => relayTranscription(incomingRequest(routed), gateway, "transcriptions"),
};

export const createTranslation: ClientEndpoint = {
  ...createTranscription,
  paths: chatPaths("/audio/translations"),
  id: "createTranslation",
  summary: "Translate audio into English text",
  form: Type.Object({ file: recording, ...TranslationFields.properties }, { title: "TranslationForm" }),
  answers: [json(TranscriptAnswer, "The translation."), plain],
  handle: (routed, { gateway }) => relayTranscription(incomingRequest(routed), gateway, "translations"),
};
