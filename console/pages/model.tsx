import { ask } from "../api/client.ts";
import type { CatalogueModel, OfferPrices, Page, UsageRow } from "../api/types.ts";
import { decimal, duration, known, percent, short, whole } from "../format/numbers.ts";
import { Empty, PageHead, State } from "../parts/basics.tsx";
import { CostCalculator, type Used } from "../parts/cost-calculator.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Fact } from "../parts/fact.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PriceTable } from "../parts/price-table.tsx";
import { useData } from "../parts/use-data.ts";
import { priceStateOf } from "../state/prices.ts";
import { nameInPath } from "../state/router.ts";

interface About {
  model: CatalogueModel | undefined;
  offers: OfferPrices[];
  used: Used | undefined;
}

const USED_DAYS = 7;

/** The mean of the calls of the last days. */
function meanOf(row: UsageRow | undefined): Used | undefined {
  if (row === undefined || row.calls === 0) return undefined;
  const { usage, calls } = row;
  const sum = (...values: (number | null)[]) => values.reduce<number>((all, value) => all + (value ?? 0), 0);
  const cached = sum(usage.cache_read);
  const mean = (value: number) => Math.round(value / calls);
  return {
    callsPerDay: Math.max(1, Math.round(calls / USED_DAYS)),
    prompt: mean(sum(usage.input, usage.cache_write_5m, usage.cache_write_1h) + cached),
    cached: mean(cached),
    completion: mean(sum(usage.output, usage.reasoning)),
    images: mean(sum(usage.images)),
    seconds: mean(sum(usage.seconds)),
    characters: mean(sum(usage.characters)),
  };
}

async function load(id: string, abort: AbortSignal): Promise<About> {
  const [models, prices, usage] = await Promise.all([
    ask<Page<CatalogueModel>>("/api/models", { text: id, limit: 500 }, abort),
    ask<Page<OfferPrices>>("/api/prices", { model: id, limit: 500 }, abort),
    ask<{ data: UsageRow[] }>("/api/usage", { by: "model", model: id, days: USED_DAYS }, abort),
  ]);
  return {
    model: models.data.find((one) => one.id === id || one.aliases.includes(id)),
    offers: prices.data,
    used: meanOf(usage.data[0]),
  };
}

type Offer = CatalogueModel["offers"][number];

const offerColumns = (model: string): Column<Offer>[] => [
  {
    id: "provider",
    title: "Offer",
    cell: ({ provider, upstream_model }) => (
      <span class="two-lines">
        <a href={`/providers/${encodeURIComponent(provider)}`}>{provider}</a>
        <small>{upstream_model}</small>
      </span>
    ),
  },
  { id: "dialect", title: "Protocol", cell: ({ dialect }) => dialect ?? <span class="muted">the provider's</span> },
  {
    id: "traits",
    title: "Traits",
    cell: ({ traits }) =>
      traits === null || Object.keys(traits).length === 0 ? (
        <span class="muted">none stated</span>
      ) : (
        Object.entries(traits)
          .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(", ") : String(value)}`)
          .join(", ")
      ),
  },
  {
    id: "calls",
    title: "Calls, last day",
    kind: "number",
    cell: ({ provider, measured }) =>
      measured === null ? "–" : <a href={callsWith({ model, provider }, "24h")}>{short(measured.calls)}</a>,
  },
  {
    id: "failed",
    title: "Failed",
    kind: "number",
    cell: ({ provider, measured }) =>
      measured === null ? (
        "–"
      ) : measured.failures === 0 ? (
        <span class="muted">0%</span>
      ) : (
        <a class="failed" href={callsWith({ model, provider, outcome: "failed" }, "24h")}>
          {percent(measured.failures, measured.calls)}
        </a>
      ),
  },
  {
    id: "first",
    title: "First content",
    kind: "number",
    cell: ({ measured }) => known(measured?.first_content_ms.p50 ?? null, duration),
  },
  {
    id: "p95",
    title: "p95",
    kind: "number",
    cell: ({ measured }) => known(measured?.first_content_ms.p95 ?? null, duration),
  },
  {
    id: "speed",
    title: "Tokens/s",
    kind: "number",
    onPhone: "lead",
    cell: ({ measured }) => known(measured?.tokens_per_second ?? null, decimal),
  },
];

const FIELDS = ["context_length", "max_output_tokens", "input_modalities", "output_modalities", "reasoning", "quality"];

/** Where a value is from: `litellm, 2026-11-02`. */
function originOf({ origins, sources, as_of }: CatalogueModel, field: string): string {
  const origin = origins[field] ?? "default";
  if (origin === "configuration") return "the configuration";
  const day = as_of[field] === undefined ? "" : ` of ${as_of[field]}`;
  if (origin === "simulator" || origin === "default") return origin === "default" ? "no list" : "the simulator";
  if (origin === "built-in") return `the built-in catalogue${day}`;
  return `${sources[field] ?? origin}${day}`;
}

/** Facts with their origin where it is not that of most. */
function Facts({ model }: { model: CatalogueModel }) {
  const all = FIELDS.map((field) => originOf(model, field));
  const usual = all.toSorted(
    (one, other) => all.filter((it) => it === other).length - all.filter((it) => it === one).length,
  )[0];
  const fact = (name: string, field: string, value: string) => (
    <Fact name={name}>
      {value}
      {originOf(model, field) !== usual && <span class="muted small block">from {originOf(model, field)}</span>}
    </Fact>
  );
  return (
    <>
      <dl class="facts">
        {fact("Context", "context_length", known(model.context_length, whole))}
        {fact("Output limit", "max_output_tokens", known(model.max_output_tokens, whole))}
        {fact("Accepts", "input_modalities", model.input_modalities.join(", "))}
        {fact("Makes", "output_modalities", model.output_modalities.join(", "))}
        {fact("Reasoning", "reasoning", model.reasoning ? "yes" : "no")}
        {model.quality !== null && fact("Quality, 1 to 10", "quality", String(model.quality))}
        {model.created !== null && <Fact name="Published">{model.created}</Fact>}
        {model.aliases.length > 0 && <Fact name="Aliases">{model.aliases.join(", ")}</Fact>}
      </dl>
      <p class="muted small origin">Values without an origin are from {usual}.</p>
    </>
  );
}

function ModelState({ model }: { model: CatalogueModel }) {
  const { retires_on, retires_in_days, replaced_by, offers } = model;
  const prices = offers[0] === undefined ? undefined : priceStateOf(offers[0]);
  return (
    <p class="lead">
      {retires_on !== null ? (
        <State kind="warn">
          retires on {retires_on}, in {retires_in_days} days{replaced_by !== null && `; then ${replaced_by}`}
        </State>
      ) : (
        <State kind="good">available</State>
      )}
      {prices === "unpriced" && <State kind="warn">unpriced: its calls cost $0 in every sum</State>}
      {prices === "free" && <State kind="idle">free</State>}
      <span>{model.display_name}</span>
      <span class="muted">{model.kind}</span>
      <a href={callsWith({ model: model.id }, "24h")}>Calls of the last day</a>
    </p>
  );
}

export function OneModel() {
  const id = nameInPath("/models/");
  const loaded = useData(id, (abort) => load(id, abort));
  return (
    <>
      <p class="crumb">
        <a href="/models">
          <Icon name="back" size={15} /> Models
        </a>
      </p>
      <PageHead title={id}>
        {loaded.data?.model && (
          <a class="button main" href={`/play?model=${encodeURIComponent(loaded.data.model.id)}`}>
            Open in playground
          </a>
        )}
      </PageHead>
      <Loaded of={loaded}>
        {({ model, offers, used }) =>
          model === undefined ? (
            <Empty title="No such model">
              <p>
                No configured provider offers it. Its past calls remain:{" "}
                <a href={callsWith({ model: id }, "30d")}>calls of the last 30 days</a>.
              </p>
            </Empty>
          ) : (
            <>
              <ModelState model={model} />
              <Facts model={model} />
              <h2 class="over">Offers, in the order in which they are tried</h2>
              <DataTable
                label="Offers"
                rows={model.offers}
                keyOf={({ provider, upstream_model }) => `${provider} ${upstream_model}`}
                columns={offerColumns(model.id)}
              />
              <h2 class="over">Prices</h2>
              <PriceTable offers={offers} />
              <CostCalculator key={model.id} offers={offers} used={used} />
            </>
          )
        }
      </Loaded>
    </>
  );
}
