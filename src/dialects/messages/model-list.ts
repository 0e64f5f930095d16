import { GatewayError } from "../../canon/error.ts";
import type { ListedModel, ListRequest, ModelLists } from "../../canon/listed-model.ts";

const MAX_LIMIT = 1000;
const UNKNOWN_DAY = "1970-01-01";

/**
 * All models in one page, unless the client requests fewer. The vendor's format names the ends of the page; the contract's has no
 * field for them and takes no parameters, so its list is always complete (contract 4).
 */
export const modelLists: ModelLists = {
  list: (models, { door, query }) => {
    if (door === "contract") return { data: models.map(contractEntry), has_more: false };
    const { page, has_more } = pageOf(models, query);
    const data = page.map(vendorEntry);
    return { data, has_more, first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null };
  },
  entry: modelEntry,
};

/** `before_id` selects the previous page; `has_more` then says whether earlier pages exist. */
function pageOf(models: readonly ListedModel[], query: URLSearchParams) {
  const limit = readLimit(query.get("limit")) ?? models.length;
  const before = query.get("before_id");
  const after = query.get("after_id");
  if (before !== null && after !== null) throw wrong("before_id", "cannot be combined with after_id");
  if (before !== null) {
    const end = placeOf(models, before, "before_id");
    const start = Math.max(0, end - limit);
    return { page: models.slice(start, end), has_more: start > 0 };
  }
  const start = after === null ? 0 : placeOf(models, after, "after_id") + 1;
  return { page: models.slice(start, start + limit), has_more: start + limit < models.length };
}

function readLimit(text: string | null): number | undefined {
  if (text === null) return undefined;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw wrong("limit", `must be an integer from 1 to ${MAX_LIMIT}`);
  return limit;
}

function placeOf(models: readonly ListedModel[], id: string, name: string): number {
  const place = models.findIndex((model) => model.id === id);
  if (place < 0) throw wrong(name, "must be the id of a model in this list");
  return place;
}

const wrong = (path: string, why: string) => new GatewayError("invalid_request", `${path} ${why}.`, { path });

function modelEntry(model: ListedModel, door: ListRequest["door"]) {
  return door === "contract" ? contractEntry(model) : vendorEntry(model);
}

function contractEntry(model: ListedModel) {
  return {
    id: model.id,
    type: "model",
    display_name: model.displayName,
    created_at: model.created ?? UNKNOWN_DAY,
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    capabilities: { reasoning: model.reasoning },
    context_length: model.contextLength ?? 0,
    pricings: model.pricings,
  };
}

/** The vendor's `capabilities` describe its own features. What models of other vendors support is unknown. */
function vendorEntry(model: ListedModel) {
  const { retiresOn } = model;
  return {
    type: "model",
    id: model.id,
    display_name: model.displayName,
    created_at: startOf(model.created ?? UNKNOWN_DAY),
    capabilities: null,
    lifecycle: retiresOn === undefined ? "active" : "deprecated",
    deprecated_at: null,
    retires_at: retiresOn === undefined ? null : startOf(retiresOn),
    line: null,
    max_input_tokens: model.contextLength ?? null,
    max_tokens: model.maxOutputTokens ?? null,
  };
}

const startOf = (day: string): string => `${day}T00:00:00Z`;
