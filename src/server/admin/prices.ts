import { pricesInForce } from "../../catalogue/value-origins.ts";
import { json } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { newestFirst } from "./models.ts";
import { PAGE_FIELDS, pageOf, textField } from "./query-fields.ts";
import { pageAnswer } from "./schemas/answers.ts";
import { PriceItem } from "./schemas/price.ts";

export const listPrices = adminRoute({
  method: "GET",
  path: "/api/prices",
  id: "listPrices",
  summary: "List the prices that calls are billed by, for each offer, with their source.",
  roles: ["admin", "viewer"],
  query: {
    ...PAGE_FIELDS,
    model: textField("Only this model."),
    provider: textField("Only this provider."),
  },
  answers: [
    json(pageAnswer("PriceList", PriceItem), "One entry for each offer; an empty list means that no price is known."),
  ],
  handle: ({ query }, { gateway }, { config }) => {
    const overlays = config.overlays();
    const { catalogue } = gateway.snapshot;
    const offers = newestFirst(catalogue.list())
      .filter(({ id }) => query.model === undefined || id === query.model)
      .flatMap((model) => model.offers.map((offer) => ({ model, offer })))
      .filter(({ offer }) => query.provider === undefined || offer.provider === query.provider)
      .map(({ model, offer }) => ({
        id: `${model.id}:${offer.provider}`,
        model: model.id,
        provider: offer.provider,
        upstream_model: offer.upstreamModel,
        prices: pricesInForce(model, offer, overlays.get(model.id), catalogue).map(
          ({ name, items, origin, source, asOf }) => ({
            name,
            items,
            origin,
            source: source ?? null,
            as_of: asOf ?? null,
          }),
        ),
        multiples: offer.priceMultiples ?? {},
        note: model.priceNote ?? null,
      }));
    return pageOf(offers, query, ({ id }) => id);
  },
});
