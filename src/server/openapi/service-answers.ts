import { Type } from "../../base/type.ts";

const integer = Type.Integer({ minimum: 0 });
const Values = Type.Array(Type.Number());

export const EmbeddingsAnswer = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(
      Type.Object({
        object: Type.Literal("embedding"),
        index: integer,
        embedding: Type.Union([
          Values,
          Type.String({ description: "With `encoding_format: base64`: 32-bit floats, little-endian." }),
        ]),
      }),
      { description: "In the order of the inputs." },
    ),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: integer, total_tokens: integer }),
  },
  { title: "EmbeddingsAnswer" },
);

const ContentEmbedding = Type.Object({ values: Values }, { title: "ContentEmbedding" });
const EmbeddingUsage = Type.Object(
  { promptTokenCount: integer, totalTokenCount: integer },
  { title: "EmbeddingUsageMetadata" },
);

export const EmbedContentAnswer = Type.Object(
  { embedding: ContentEmbedding, usageMetadata: EmbeddingUsage },
  { title: "EmbedContentAnswer" },
);

export const BatchEmbedContentsAnswer = Type.Object(
  {
    embeddings: Type.Array(ContentEmbedding, { description: "In the order of the requests." }),
    usageMetadata: EmbeddingUsage,
  },
  { title: "BatchEmbedContentsAnswer" },
);

export const RerankAnswer = Type.Object(
  {
    id: Type.String({ description: "The same as in the receipt." }),
    model: Type.String(),
    results: Type.Array(
      Type.Object({
        index: integer,
        relevance_score: Type.Number(),
        document: Type.Optional(Type.Object({ text: Type.String() })),
      }),
    ),
    meta: Type.Object({
      api_version: Type.Object({ version: Type.String() }),
      billed_units: Type.Object({ search_units: Type.Optional(integer), input_tokens: Type.Optional(integer) }),
    }),
  },
  { title: "RerankAnswer" },
);
