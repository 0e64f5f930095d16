import { Type } from "../../base/type.ts";
import { daysUntil } from "../../catalogue/days.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import { unknownPrices } from "../../catalogue/price-table.ts";
import { type PriceInForce, type Provenance, pricesInForce, valueOrigins } from "../../catalogue/value-origins.ts";
import { measuredSpeeds } from "../../ledger/measured.ts";
import { json } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { measuredView } from "./providers/measured-view.ts";
import { PAGE_FIELDS, pageOf, textField } from "./query-fields.ts";
import { pageAnswer } from "./schemas/answers.ts";
import { ModelItem } from "./schemas/model.ts";

export const listModels = adminRoute({
  method: "GET",
  path: "/api/models",
  id: "listModels",
  summary: "List the callable models, with the source of each value, prices with their ages, and what was measured.",
  roles: ["admin", "viewer"],
  query: {
    ...PAGE_FIELDS,
    text: textField("Only models whose id or alias contains this."),
    provider: textField("Only models that this provider offers."),
  },
  answers: [
    json(
      pageAnswer("ModelCatalogue", ModelItem, {
        measured_from: Type.String({
          description: "`measured` sums the receipts since then: a day, or the newest 10,000.",
        }),
      }),
      "The active catalogue, new models first.",
    ),
  ],
  handle: async ({ query }, { gateway, storage }, { config }) => {
    const { catalogue } = gateway.snapshot;
    const overlays = config.overlays();
    const nowMs = gateway.clock.wallMs();
    const text = query.text?.toLowerCase() ?? "";
    const found = newestFirst(catalogue.list())
      .map((model) => ({ model, aliases: catalogue.aliasesOf(model.id) }))
      .filter(({ model, aliases }) => [model.id, ...aliases].some((name) => name.toLowerCase().includes(text)))
      .filter(
        ({ model }) => query.provider === undefined || model.offers.some((one) => one.provider === query.provider),
      );
    const page = pageOf(found, query, ({ model }) => model.id);
    const measured = await measuredSpeeds(storage, { sinceMs: nowMs - MEASURED_MS, untilMs: nowMs + 1 });
    return {
      data: page.data.map(({ model, aliases }) => ({
        ...modelView(model, nowMs),
        measured: measuredView(measured.of(model.id)),
        offers: model.offers.map((offer) => ({
          ...offerView(model, offer),
          measured: measuredView(measured.of(model.id, offer.provider)),
          prices: pricesView(pricesInForce(model, offer, overlays.get(model.id), catalogue), nowMs),
        })),
        aliases,
        ...originFields(valueOrigins(model, overlays.get(model.id), catalogue)),
      })),
      next: page.next,
      measured_from: new Date(measured.fromMs).toISOString(),
    };
  },
});

const DAY_MS = 86_400_000;
/** How far back speeds are measured. */
const MEASURED_MS = DAY_MS;

/** The first of each price, with where it comes from and how old it is. */
const pricesView = (prices: readonly PriceInForce[], nowMs: number) =>
  Object.fromEntries(
    prices.flatMap(({ name, items: [first, ...more], origin, source, asOf }) =>
      first === undefined
        ? []
        : [
            [
              name,
              {
                value: first.value,
                unit: first.unit,
                more: more.length > 0,
                origin,
                source: source ?? null,
                as_of: asOf ?? null,
                days: asOf === undefined ? null : Math.max(0, Math.floor((nowMs - Date.parse(asOf)) / DAY_MS)),
              },
            ],
          ],
    ),
  );

/** Where each value comes from, and the day of those that the catalogue has. */
function originFields(values: Readonly<Record<string, Provenance>>) {
  const all = Object.entries(values);
  return {
    origins: Object.fromEntries(all.map(([field, { origin }]) => [field, origin])),
    as_of: Object.fromEntries(all.flatMap(([field, { asOf }]) => (asOf === undefined ? [] : [[field, asOf]]))),
    sources: Object.fromEntries(all.flatMap(([field, { source }]) => (source === undefined ? [] : [[field, source]]))),
  };
}

export const newestFirst = (models: readonly Model[]): Model[] =>
  models.toSorted(
    (one, other) => (other.created ?? "").localeCompare(one.created ?? "") || one.id.localeCompare(other.id),
  );

const isPriced = ({ kind }: Model, offer: Offer): boolean => unknownPrices(kind, offer).length === 0;

const modelView = (model: Model, nowMs: number) => ({
  id: model.id,
  display_name: model.displayName,
  kind: model.kind,
  created: model.created ?? null,
  context_length: model.contextLength ?? null,
  max_output_tokens: model.maxOutputTokens ?? null,
  input_modalities: model.inputModalities,
  output_modalities: model.outputModalities,
  reasoning: model.reasoning,
  quality: model.quality ?? null,
  retires_on: model.retiresOn ?? null,
  retires_in_days: model.retiresOn === undefined ? null : daysUntil(model.retiresOn, nowMs),
  retires_after: model.retiresAfter ?? null,
  replaced_by: model.replacedBy ?? null,
  retirement: model.retirement ?? null,
  priced: model.offers.slice(0, 1).every((offer) => isPriced(model, offer)),
});

const offerView = (model: Model, offer: Offer) => ({
  provider: offer.provider,
  upstream_model: offer.upstreamModel,
  dialect: offer.dialect ?? null,
  weight: offer.weight ?? null,
  traits: offer.traits ?? null,
  priced: isPriced(model, offer),
});
