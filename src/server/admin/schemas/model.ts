import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

export const OriginName = Type.Enum(["built-in", "update", "configuration", "simulator", "default"]);

export const ModelItem = Type.Object(
  {
    id: Type.String(),
    aliases: Type.Array(Type.String()),
    display_name: Type.String(),
    kind: Type.String(),
    created: nullable(Type.String()),
    context_length: nullable(Type.Integer()),
    max_output_tokens: nullable(Type.Integer()),
    input_modalities: Type.Array(Type.String()),
    output_modalities: Type.Array(Type.String()),
    reasoning: Type.Boolean(),
    quality: nullable(Type.Number()),
    retires_on: nullable(Type.String()),
    retired: Type.Boolean(),
    priced: Type.Boolean({ description: "Whether any price is known." }),
    offers: Type.Array(
      Type.Object({
        provider: Type.String(),
        upstream_model: Type.String(),
        dialect: nullable(Type.String()),
        weight: nullable(Type.Number()),
        priced: Type.Boolean(),
      }),
    ),
    origins: Type.Record(Type.String(), OriginName, { description: "Where each value comes from." }),
    as_of: Type.Record(Type.String(), Type.String(), { description: "The day of each value that the catalogue has." }),
    sources: Type.Record(Type.String(), Type.String(), {
      description: "The list that the catalogue has each value from; `built-in` for those that came with the program.",
    }),
  },
  { title: "CatalogueModel" },
);

export type CatalogueModel = Static<typeof ModelItem>;
