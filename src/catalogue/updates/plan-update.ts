import { createHash } from "node:crypto";
import { isObject } from "../../base/json.ts";
import { hasCome, itemsAt, startOf } from "../days.ts";
import { type AnyPriceName, type ModelKind, nameOf, type PriceItem, publisherOf } from "../model.ts";
import type { ModelEntry } from "../models-schema.ts";
import { familyOf, traitsOf } from "./family.ts";
import type { ModelPatch, ValueSource } from "./model-patch.ts";
import type { SourceList } from "./source-list.ts";

/** One value that an update changes. */
export interface Change {
  model: string;
  /** Such as `context_length`, or `pricings.prompt`. */
  field: string;
  /** Absent where there was no value. */
  before?: unknown;
  after: unknown;
}

export interface UpdatePlan {
  /** New models; `family` is the known model whose traits they take. */
  added: { model: string; family?: string; priced: boolean }[];
  changes: Change[];
  /** Prices that would rise or fall by more than half. They stay until the model is confirmed by name. */
  held: Change[];
  /** What applying the plan stores. */
  patches: ModelPatch[];
  /** Of source and patches: the same digest means the same update. */
  digest: string;
}

/** Kinds whose models need an adapter that knows them. Lists can change their facts, but not add them. */
const NEEDS_ADAPTER: ReadonlySet<ModelKind | undefined> = new Set(["image", "video"]);

const MOST = 1.5;
const LEAST = 0.5;

/** Compares a published list of one day (YYYY-MM-DD) with the models in force. */
export function planUpdate(
  known: ReadonlyMap<string, ModelEntry>,
  { source, asOf }: ValueSource,
  list: SourceList,
  confirmed: ReadonlySet<string>,
): UpdatePlan {
  const asOfMs = startOf(asOf);
  const plan: UpdatePlan = { added: [], changes: [], held: [], patches: [], digest: "" };
  const byUpstream = new Map([...known.values()].map((entry) => [upstreamKey(entry.id, entry.upstream_model), entry]));
  for (const listed of list.models.toSorted((one, other) => one.id.localeCompare(other.id))) {
    const entry = known.get(listed.id) ?? byUpstream.get(upstreamKey(listed.id, listed.upstream_model ?? ""));
    const patch =
      entry === undefined
        ? addModel(listed, known, plan)
        : changeModel(entry, listed, { ...list, asOfMs }, confirmed, plan);
    if (patch !== undefined) plan.patches.push(patch);
  }
  plan.digest = digestOfPatches(source, plan.patches);
  return plan;
}

const upstreamKey = (id: string, upstream: string): string => `${publisherOf(id)}/${upstream.toLowerCase()}`;

const digestOfPatches = (source: string, patches: readonly ModelPatch[]): string =>
  `sha256:${createHash("sha256").update(canonical({ source, patches })).digest("hex")}`;

/** JSON with the members of objects in order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );

function addModel(
  listed: ModelPatch,
  known: ReadonlyMap<string, ModelEntry>,
  plan: UpdatePlan,
): ModelPatch | undefined {
  const { id, kind } = listed;
  if (kind === undefined || NEEDS_ADAPTER.has(kind)) return undefined;
  const family = familyOf({ id, kind }, known.values());
  const priced = Object.keys(listed.pricings ?? {}).length > 0;
  // Lists also name tools and services.
  if (!priced && family === undefined) return undefined;
  plan.added.push({ model: id, ...(family && { family: family.id }), priced });
  return { ...(family && traitsOf(family)), display_name: nameOf(id), ...listed };
}

/** Values that a list may change. The traits and modalities of known models were checked by hand, and lists know them less exactly. */
const FACTS = ["context_length", "max_output_tokens", "retires_after"] as const;

function changeModel(
  entry: ModelEntry,
  listed: ModelPatch,
  { contextIsPrompt, asOfMs }: SourceList & { asOfMs: number },
  confirmed: ReadonlySet<string>,
  plan: UpdatePlan,
): ModelPatch | undefined {
  const patch: ModelPatch = { id: entry.id };
  const change = (field: string, before: unknown, after: unknown) =>
    plan.changes.push({ model: entry.id, field, ...(before === undefined ? {} : { before }), after });
  for (const field of FACTS) {
    const after = listed[field];
    if (after === undefined || after === entry[field] || (field === "context_length" && contextIsPrompt)) continue;
    // What a vendor says counts for more than what a list of all vendors does.
    if (field === "retires_after" && entry.retirement !== undefined) continue;
    Object.assign(patch, { [field]: after });
    change(field, entry[field], after);
  }
  for (const [name, after] of Object.entries(listed.pricings ?? {}) as [AnyPriceName, PriceItem[]][]) {
    // A list has no later prices: it is compared with the prices in force on its day, and leaves later ones as they are.
    const stated = entry.pricings[name];
    const before = stated && itemsAt(stated, asOfMs);
    const later = stated?.filter(({ from }) => from !== undefined && !hasCome(from, asOfMs)) ?? [];
    if (canonical(before) === canonical(after)) continue;
    if (before !== undefined && isJump(before, after) && !confirmed.has(entry.id)) {
      plan.held.push({ model: entry.id, field: `pricings.${name}`, before, after });
      continue;
    }
    patch.pricings = { ...patch.pricings, [name]: [...after, ...later] };
    change(`pricings.${name}`, before, after);
  }
  for (const [term, after] of Object.entries(listed.price_multiples ?? {})) {
    const before = entry.price_multiples?.[term];
    if (before === after) continue;
    if (before !== undefined && isFar(before, after) && !confirmed.has(entry.id)) {
      plan.held.push({ model: entry.id, field: `price_multiples.${term}`, before, after });
      continue;
    }
    patch.price_multiples = { ...patch.price_multiples, [term]: after };
    change(`price_multiples.${term}`, before, after);
  }
  return Object.keys(patch).length === 1 ? undefined : patch;
}

/** Whether any call would cost less than half, or more than half as much again. Sizes that only one of them has count, too. */
function isJump(before: readonly PriceItem[], after: readonly PriceItem[]): boolean {
  const sizes = [...boundsOf(before), ...boundsOf(after)].flatMap((bound) => [bound, bound + 1]);
  return [0, ...sizes].some((kTokens) => {
    const [one, other] = [priceAt(before, kTokens), priceAt(after, kTokens)];
    if (one === undefined || other === undefined) return one !== other;
    return one.unit !== other.unit || one.resolution !== other.resolution || isFar(one.value, other.value);
  });
}

const isFar = (before: number, after: number): boolean => after > before * MOST || after < before * LEAST;

const boundsOf = (items: readonly PriceItem[]): number[] =>
  items.flatMap(({ conditions }) => {
    const { gte, gt, lte, lt } = conditions?.prompt_tokens ?? {};
    return [gte, gt, lte, lt].filter((bound) => typeof bound === "number");
  });

/** The price of a call with a prompt of this size. */
const priceAt = (items: readonly PriceItem[], kTokens: number): PriceItem | undefined =>
  items.find(({ conditions }) => {
    const { gte, gt, lte, lt } = conditions?.prompt_tokens ?? {};
    return (
      kTokens >= (gte ?? 0) &&
      (gt === undefined || gt === null || kTokens > gt) &&
      kTokens <= (lte ?? Number.POSITIVE_INFINITY) &&
      kTokens < (lt ?? Number.POSITIVE_INFINITY)
    );
  });
