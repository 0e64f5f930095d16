import { isRetired } from "../../catalogue/is-retired.ts";
import type { Model } from "../../catalogue/model.ts";
import { type Provenance, valueOrigins } from "../../catalogue/value-origins.ts";
import { json } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { PAGE_FIELDS, pageOf, textField } from "./query-fields.ts";
import { pageAnswer } from "./schemas/answers.ts";
import { ModelItem } from "./schemas/model.ts";

export const listModels = adminRoute({
  method: "GET",
  path: "/api/models",
  id: "listModels",
  summary: "List the callable models, with the source of each value.",
  roles: ["admin", "viewer"],
  query: {
    ...PAGE_FIELDS,
    text: textField("Only models whose id or alias contains this."),
    provider: textField("Only models that this provider offers."),
  },
  answers: [json(pageAnswer("ModelCatalogue", ModelItem), "The active catalogue, new models first.")],
  handle: ({ query }, { gateway }, { config }) => {
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
    return {
      data: page.data.map(({ model, aliases }) => ({
        ...modelView(model, nowMs),
        aliases,
        ...originFields(valueOrigins(model, overlays.get(model.id), catalogue)),
      })),
      next: page.next,
    };
  },
});

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

const isPriced = ({ pricings }: Pick<Model, "pricings">): boolean => Object.keys(pricings).length > 0;

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
  retired: isRetired(model, nowMs),
  priced: isPriced(model),
  offers: model.offers.map((offer) => ({
    provider: offer.provider,
    upstream_model: offer.upstreamModel,
    dialect: offer.dialect ?? null,
    weight: offer.weight ?? null,
    traits: offer.traits ?? null,
    priced: isPriced(offer),
  })),
});
