import { Type } from "../../base/type.ts";
import { openObject } from "../../dialects/reading/schema-builders.ts";

const integer = Type.Integer({ minimum: 0 });
const seconds = Type.Number({ minimum: 0 });

const TokenUsage = Type.Object({ input_tokens: integer, output_tokens: integer, total_tokens: integer });

export const SpeechEvent = Type.Union(
  [
    Type.Object({
      type: Type.Literal("speech.audio.delta"),
      audio: Type.String({ description: "Base64; concatenate the parts to get the file." }),
    }),
    Type.Object({ type: Type.Literal("speech.audio.done"), usage: TokenUsage }),
  ],
  { title: "SpeechEvent" },
);

const TranscriptUsage = Type.Union([
  Type.Object({ type: Type.Literal("tokens"), ...TokenUsage.properties }),
  Type.Object({ type: Type.Literal("duration"), seconds }),
]);

export const TranscriptAnswer = Type.Object(
  {
    text: Type.String(),
    usage: Type.Optional(TranscriptUsage),
    language: Type.Optional(Type.String()),
    duration: Type.Optional(seconds),
    segments: Type.Optional(Type.Array(Type.Object({ start: seconds, end: seconds, text: Type.String() }))),
    words: Type.Optional(Type.Array(Type.Object({ word: Type.String(), start: seconds, end: seconds }))),
  },
  { title: "TranscriptAnswer" },
);

export const TranscriptEvent = Type.Union(
  [
    Type.Object({ type: Type.Literal("transcript.text.delta"), delta: Type.String() }),
    Type.Object({
      type: Type.Literal("transcript.text.done"),
      text: Type.String(),
      usage: Type.Optional(TranscriptUsage),
    }),
  ],
  { title: "TranscriptEvent" },
);

export const ModerationAnswer = Type.Object(
  {
    id: Type.Optional(Type.String()),
    model: Type.String(),
    results: Type.Array(openObject("At most providers: `flagged`, `categories` and `category_scores`.")),
  },
  { title: "ModerationAnswer" },
);

export const CompletionAnswer = Type.Object(
  {
    id: Type.Optional(Type.String()),
    object: Type.Optional(Type.Literal("text_completion")),
    created: Type.Optional(Type.Integer()),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: integer,
        text: Type.String(),
        finish_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      }),
    ),
    usage: Type.Optional(openObject("`prompt_tokens`, `completion_tokens`, `total_tokens`.")),
  },
  { title: "CompletionAnswer" },
);

export const CompactionAnswer = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("response.compaction"),
    output: Type.Array(Type.Object({ type: Type.String() }), {
      description: "Replaces the conversation so far.",
    }),
  },
  { title: "CompactionAnswer" },
);
