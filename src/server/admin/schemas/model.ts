import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { MeasuredCalls } from "./measured.ts";

export const OriginName = Type.Enum(["built-in", "update", "configuration", "simulator", "default"]);

const Price = Type.Object(
  {
    value: Type.Number(),
    unit: Type.String(),
    more: Type.Boolean({ description: "Other prices apply to some calls, such as long ones." }),
    origin: OriginName,
    source: nullable(Type.String({ description: "The list that the price comes from." })),
    as_of: nullable(Type.String({ description: "The day of that list." })),
    days: nullable(Type.Integer({ description: "Its age; null if the day is unknown, as for configured prices." })),
  },
  { title: "PriceInForce" },
);

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
    retires_on: nullable(Type.String({ description: "The day from which on nobody serves it." })),
    retires_in_days: nullable(Type.Integer()),
    retires_after: nullable(Type.String({ description: "Its publisher serves it at least until this day." })),
    replaced_by: nullable(Type.String({ description: "What its publisher names in its place." })),
    retirement: nullable(
      Type.Object(
        { source: Type.String(), date: Type.String() },
        { description: "Who gives the day, and when it was read." },
      ),
    ),
    priced: Type.Boolean({ description: "Whether every price that its calls need is known." }),
    offers: Type.Array(
      Type.Object({
        provider: Type.String(),
        upstream_model: Type.String(),
        dialect: nullable(Type.String()),
        weight: nullable(Type.Number()),
        traits: nullable(Type.Record(Type.String(), Type.Unknown())),
        priced: Type.Boolean(),
        measured: MeasuredCalls,
        prices: Type.Record(Type.String(), Price, {
          description: "By name; GET /api/prices has those that depend on the size of a call.",
        }),
      }),
    ),
    measured: MeasuredCalls,
    origins: Type.Record(Type.String(), OriginName, { description: "Where each value comes from." }),
    as_of: Type.Record(Type.String(), Type.String(), { description: "The day of each value that the catalogue has." }),
    sources: Type.Record(Type.String(), Type.String(), {
      description: "The list that the catalogue has each value from; `built-in` for those that came with the program.",
    }),
  },
  { title: "CatalogueModel" },
);

export type CatalogueModel = Static<typeof ModelItem>;
