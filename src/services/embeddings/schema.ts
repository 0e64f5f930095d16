import type { Static } from "typebox";
import { Type } from "../../base/type.ts";
import { EXPECTED, openObject } from "../../dialects/reading/schema-builders.ts";
import { defineBodyCheck } from "../../media/check-body.ts";

/** The limit of the protocol's own host. If a host accepts fewer per request, several are sent. */
export const MAX_INPUTS = 2048;

const Text = Type.String({ minLength: 1 });
const Tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 });
const dimensions = Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 }));

export const EmbeddingsRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
    input: Type.Union(
      [
        Text,
        Type.Array(Text, { minItems: 1, maxItems: MAX_INPUTS }),
        Tokens,
        Type.Array(Tokens, { minItems: 1, maxItems: MAX_INPUTS }),
      ],
      { [EXPECTED]: "a string, an array of strings, an array of tokens, or an array of token arrays" },
    ),
    dimensions,
    encoding_format: Type.Optional(Type.Enum(["float", "base64"])),
    user: Type.Optional(Type.String()),
    input_type: Type.Optional(
      Type.String({
        description:
          "What the vectors are for, if the model was trained for it: `query`, `document`, `similarity`, `classification`, `clustering`, `question_answering`, `fact_verification`, `code_query`, or a provider's own name for one of these.",
      }),
    ),
  },
  { title: "EmbeddingsRequest" },
);
export type EmbeddingsRequest = Static<typeof EmbeddingsRequest>;

const Content = Type.Object({
  role: Type.Optional(Type.String()),
  parts: Type.Array(Type.Object({ text: Type.Optional(Type.String()) }), { minItems: 1 }),
});

const settings = {
  taskType: Type.Optional(Type.String({ description: "Such as `RETRIEVAL_QUERY`." })),
  title: Type.Optional(Type.String()),
  outputDimensionality: dimensions,
  autoTruncate: Type.Optional(Type.Boolean()),
};

/** As some clients write it: the settings in a separate object. */
const EmbedContentConfig = Type.Object(settings);

export const EmbedContentRequest = Type.Object(
  {
    model: Type.Optional(Type.String({ description: "The path names the model." })),
    content: Content,
    ...settings,
    embedContentConfig: Type.Optional(EmbedContentConfig),
  },
  { title: "EmbedContentRequest" },
);
export type EmbedContentRequest = Static<typeof EmbedContentRequest>;

export const BatchEmbedContentsRequest = Type.Object(
  { requests: Type.Array(EmbedContentRequest, { minItems: 1, maxItems: MAX_INPUTS }) },
  { title: "BatchEmbedContentsRequest" },
);
export type BatchEmbedContentsRequest = Static<typeof BatchEmbedContentsRequest>;

/** The body of `:predict` for embedding models. */
export const PredictEmbeddingsRequest = Type.Object(
  {
    instances: Type.Array(
      Type.Object({
        content: Text,
        taskType: Type.Optional(Type.String()),
        title: Type.Optional(Type.String()),
      }),
      { minItems: 1, maxItems: MAX_INPUTS },
    ),
    parameters: Type.Optional(
      Type.Object({ outputDimensionality: dimensions, autoTruncate: Type.Optional(Type.Boolean()) }),
    ),
    labels: Type.Optional(openObject()),
  },
  { title: "PredictEmbeddingsRequest" },
);
export type PredictEmbeddingsRequest = Static<typeof PredictEmbeddingsRequest>;

const nothing = () => {};

export const checkEmbeddings = defineBodyCheck(EmbeddingsRequest, nothing);
export const checkEmbedContent = defineBodyCheck(EmbedContentRequest, nothing);
export const checkBatchEmbedContents = defineBodyCheck(BatchEmbedContentsRequest, nothing);
export const checkPredictEmbeddings = defineBodyCheck(PredictEmbeddingsRequest, nothing);
