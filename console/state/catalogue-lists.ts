import { ask, type Query } from "../api/client.ts";
import type { CatalogueModel, Page } from "../api/types.ts";

/** Upper bound on the pages that are read. */
const MOST_PAGES = 10;

async function allOf<Item, Answer extends Page<Item>>(path: string, query: Query, abort: AbortSignal) {
  const items: Item[] = [];
  let after: string | undefined;
  let first: Answer | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await ask<Answer>(path, { ...query, limit: 500, after }, abort);
    first ??= page;
    items.push(...page.data);
    if (page.next === null) break;
    after = page.next;
  }
  return { items, first };
}

/** By name, and the simulator's last. */
export function inOrder(one: CatalogueModel, other: CatalogueModel): number {
  const rank = ({ id }: CatalogueModel) => Number(id.startsWith("sim/"));
  return rank(one) - rank(other) || one.id.localeCompare(other.id);
}

/** The address of a model's page. */
export const modelPath = (id: string): string => `/models/${id.split("/").map(encodeURIComponent).join("/")}`;

export interface ModelList {
  models: CatalogueModel[];
  /** Where the calls begin that were measured. */
  measuredFrom: string | undefined;
}

export async function allModels(abort: AbortSignal): Promise<ModelList> {
  const { items, first } = await allOf<CatalogueModel, Page<CatalogueModel> & { measured_from?: string }>(
    "/api/models",
    {},
    abort,
  );
  return { models: items.sort(inOrder), measuredFrom: first?.measured_from };
}
