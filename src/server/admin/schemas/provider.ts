import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

const ModelHealth = Type.Object(
  {
    model: Type.String({ description: "The provider's own name for the model." }),
    state: Type.Enum(["closed", "half_open", "open"]),
    quiet_ms: Type.Integer({ description: "How long the provider asks not to be called." }),
    first_content_ms: nullable(Type.Number()),
    p95_first_content_ms: nullable(Type.Number()),
    tokens_per_second: nullable(Type.Number()),
  },
  { title: "ModelHealth" },
);

export const ProviderHealth = Type.Object(
  {
    provider: Type.String(),
    credentials: Type.Array(
      Type.Object({
        label: nullable(Type.String({ description: "Never the key; null if the provider has one credential." })),
        weight: Type.Number(),
        models: Type.Array(ModelHealth, { description: "Models that were called." }),
      }),
    ),
  },
  { title: "ProviderHealth" },
);

export type ProviderHealth = Static<typeof ProviderHealth>;
