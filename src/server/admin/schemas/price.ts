import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable, openObject } from "../../../dialects/reading/schema-builders.ts";
import { OriginName } from "./model.ts";

export const PriceItem = Type.Object(
  {
    id: Type.String({ description: "The model and the provider, as a call can name them: `model:provider`." }),
    model: Type.String(),
    provider: Type.String(),
    upstream_model: Type.String(),
    prices: Type.Array(
      Type.Object({
        name: Type.String(),
        items: Type.Array(
          Type.Object({
            value: Type.Number(),
            unit: Type.String(),
            currency: Type.String(),
            resolution: Type.Optional(Type.String()),
            conditions: Type.Optional(openObject("The size of calls that the price applies to.")),
          }),
        ),
        origin: OriginName,
        source: nullable(Type.String({ description: "The list that the catalogue has the price from." })),
        as_of: nullable(Type.String({ description: "The day of that list." })),
      }),
    ),
    multiples: Type.Record(Type.String(), Type.Number(), { description: "Factors for special terms." }),
    note: nullable(Type.String({ description: "What the prices cannot express." })),
  },
  { title: "OfferPrices" },
);

export type OfferPrices = Static<typeof PriceItem>;
