import Type from "typebox";
import { pricesOf } from "../../catalogue/origins.ts";
import { nullable, openObject } from "../../dialects/schema-builders.ts";
import { json } from "../openapi/operation.ts";
import { pageAnswer } from "./answers.ts";
import { adminRoute } from "./define-route.ts";
import { newestFirst, OriginName } from "./models.ts";
import { PAGE_FIELDS, pageOf, textField } from "./query-fields.ts";

const PriceItem = Type.Object(
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
            conditions: Type.Optional(openObject("Of which size calls must be.")),
          }),
        ),
        origin: OriginName,
      }),
    ),
    multiples: Type.Record(Type.String(), Type.Number(), { description: "Factors for other than ordinary terms." }),
    note: nullable(Type.String({ description: "What the prices cannot express." })),
  },
  { title: "OfferPrices" },
);

export const listPrices = adminRoute({
  method: "GET",
  path: "/api/prices",
  id: "listPrices",
  summary: "List the prices that calls are billed by, offer by offer, with where each comes from.",
  roles: ["admin", "viewer"],
  query: {
    ...PAGE_FIELDS,
    model: textField("Only this model."),
    provider: textField("Only this provider."),
  },
  answers: [
    json(pageAnswer("PriceList", PriceItem), "One entry for each offer; an empty list of prices is free of charge."),
  ],
  handle: ({ query }, { gateway }, { config }) => {
    const overlays = config.overlays();
    const offers = newestFirst(gateway.snapshot.catalogue.list())
      .filter(({ id }) => query.model === undefined || id === query.model)
      .flatMap((model) => model.offers.map((offer) => ({ model, offer })))
      .filter(({ offer }) => query.provider === undefined || offer.provider === query.provider)
      .map(({ model, offer }) => ({
        id: `${model.id}:${offer.provider}`,
        model: model.id,
        provider: offer.provider,
        upstream_model: offer.upstreamModel,
        prices: pricesOf(model, offer, overlays.get(model.id)),
        multiples: offer.priceMultiples ?? {},
        note: model.priceNote ?? null,
      }));
    return pageOf(offers, query, ({ id }) => id);
  },
});
