import { Type } from "../../base/type.ts";
import { Part } from "../../dialects/genai/schema/content.ts";
import { openObject } from "../../dialects/reading/schema-builders.ts";

const integer = Type.Optional(Type.Integer({ minimum: 0 }));
const text = Type.Optional(Type.String());
const FINISH_WORDS = [
  "STOP",
  "MAX_TOKENS",
  "SAFETY",
  "RECITATION",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "IMAGE_PROHIBITED_CONTENT",
  "NO_IMAGE",
  "SPII",
  "MALFORMED_FUNCTION_CALL",
  "OTHER",
  "UNSPECIFIED",
];

const SafetyRating = Type.Object({
  category: Type.String(),
  probability: Type.Optional(Type.Enum(["NEGLIGIBLE", "LOW", "MEDIUM", "HIGH"])),
  blocked: Type.Optional(Type.Boolean()),
});
const ratings = Type.Optional(Type.Array(SafetyRating));

const Citation = Type.Object({
  startIndex: integer,
  endIndex: integer,
  uri: text,
  title: text,
  license: text,
  publicationDate: Type.Optional(Type.Object({ year: integer, month: integer, day: integer })),
});

const TokenOdds = Type.Object({ token: Type.String(), logProbability: Type.Number() });

const Candidate = Type.Object({
  index: integer,
  content: Type.Optional(Type.Object({ role: text, parts: Type.Optional(Type.Array(Part)) })),
  finishReason: Type.Optional(
    Type.String({
      examples: FINISH_WORDS.map((word) => `FINISH_REASON_${word}`),
      description:
        "As the contract spells it; without the prefix for clients that are known to read the provider's own values.",
    }),
  ),
  finishMessage: text,
  safetyRatings: ratings,
  citationMetadata: Type.Optional(Type.Object({ citations: Type.Optional(Type.Array(Citation)) })),
  avgLogprobs: Type.Optional(Type.Number()),
  logprobsResult: Type.Optional(
    Type.Object({
      topCandidates: Type.Optional(Type.Array(Type.Object({ candidates: Type.Array(TokenOdds) }))),
      chosenCandidates: Type.Optional(Type.Array(TokenOdds)),
    }),
  ),
  groundingMetadata: Type.Optional(openObject()),
  urlContextMetadata: Type.Optional(
    Type.Object({
      urlMetadata: Type.Optional(Type.Array(Type.Object({ retrievedUrl: text, urlRetrievalStatus: text }))),
    }),
  ),
});

/** Contract 2.7; a streamed chunk (contract 2.8) has the same shape. */
export const GenerateContentAnswer = Type.Object(
  {
    candidates: Type.Optional(Type.Array(Candidate)),
    promptFeedback: Type.Optional(Type.Object({ blockReason: text, blockReasonMessage: text, safetyRatings: ratings })),
    usageMetadata: Type.Optional(
      Type.Object({
        promptTokenCount: integer,
        candidatesTokenCount: integer,
        totalTokenCount: integer,
        cachedContentTokenCount: integer,
        thoughtsTokenCount: integer,
        toolUsePromptTokenCount: integer,
      }),
    ),
    modelVersion: text,
    createTime: Type.Optional(Type.String({ format: "date-time" })),
    responseId: text,
  },
  { title: "GenerateContentAnswer" },
);

export const GenaiTokenCount = Type.Object({ totalTokens: Type.Integer({ minimum: 0 }) }, { title: "GenaiTokenCount" });
