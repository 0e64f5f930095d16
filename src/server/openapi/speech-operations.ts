import { Type } from "../../base/type.ts";
import { CompactionRequest } from "../../services/compaction/schema.ts";
import { CompletionRequest } from "../../services/completion/schema.ts";
import { ModerationRequest } from "../../services/moderation/schema.ts";
import { SpeechRequestBody } from "../../services/speech/schema.ts";
import { TranscriptionFields, TranslationFields } from "../../services/transcription/schema.ts";
import { type Answer, events, json, type Operation } from "./operation.ts";
import { IMAGE_HEADERS } from "./parameters.ts";
import {
  CompactionAnswer,
  CompletionAnswer,
  ModerationAnswer,
  SpeechEvent,
  TranscriptAnswer,
  TranscriptEvent,
} from "./speech-answers.ts";

const recording = Type.Unsafe<string>({ type: "string", format: "binary", description: "The recording." });

const sound: Answer = { description: "The sound, as it is made.", contentType: "audio/*" };

const plain: Answer = {
  description: "With `response_format` text, srt or vtt: the words, or subtitles.",
  contentType: "text/plain",
  schema: Type.String(),
};

export const createSpeech: Operation = {
  method: "post",
  id: "createSpeech",
  summary: "Speak a text",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: SpeechRequestBody,
  answers: [sound, events(SpeechEvent, "With `stream_format: sse`: events with parts of the sound.")],
};

export const createTranscription: Operation = {
  method: "post",
  id: "createTranscription",
  summary: "Write down what is said in a recording",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  form: Type.Object({ file: recording, ...TranscriptionFields.properties }, { title: "TranscriptionForm" }),
  answers: [
    json(TranscriptAnswer, "The transcript."),
    plain,
    events(TranscriptEvent, "With `stream`: events with parts of the text."),
  ],
};

export const createTranslation: Operation = {
  ...createTranscription,
  id: "createTranslation",
  summary: "Write down in English what is said in a recording",
  form: Type.Object({ file: recording, ...TranslationFields.properties }, { title: "TranslationForm" }),
  answers: [json(TranscriptAnswer, "The translation."), plain],
};

export const createModeration: Operation = {
  method: "post",
  id: "createModeration",
  summary: "Judge whether texts or images are harmful",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: ModerationRequest,
  answers: [json(ModerationAnswer, "One result for each input, in the host's own form.")],
};

export const compactResponse: Operation = {
  method: "post",
  id: "compactResponse",
  summary: "Have a conversation compacted by its host, where the host does so",
  dialect: "responses",
  parameters: IMAGE_HEADERS,
  request: CompactionRequest,
  answers: [json(CompactionAnswer, "The items to go on with, one of them sealed by the host.")],
};

export const createCompletion: Operation = {
  method: "post",
  id: "createCompletion",
  summary: "Complete a prompt, by the API before chat",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: CompletionRequest,
  answers: [
    json(CompletionAnswer, "The completion, in the host's own form."),
    events(CompletionAnswer, "With `stream`: parts of the same form, then `[DONE]`."),
  ],
};
