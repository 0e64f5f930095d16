import type { CatalogueModel } from "../api/types.ts";
import { decimal, duration, known, short, whole } from "../format/numbers.ts";
import { Empty, PageHead, State } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useData } from "../parts/use-data.ts";
import { allModels, modelPath } from "../state/catalogue-lists.ts";
import { listPrices, priceStateOf } from "../state/prices.ts";
import { place, setQuery } from "../state/router.ts";

const PRICE_STATES = {
  free: <State kind="idle">free</State>,
  unpriced: <State kind="warn">unpriced</State>,
} as const;

function Price({ model, name }: { model: CatalogueModel; name: "input" | "cached" | "output" }) {
  const [offer] = model.offers;
  const state = offer === undefined ? "unpriced" : priceStateOf(offer);
  if (state !== "priced") return name === "output" ? PRICE_STATES[state] : <span class="muted">–</span>;
  const price = listPrices(offer)[name];
  if (price === undefined) return <>–</>;
  return (
    <span class="two-lines">
      {price.text}
      {price.more && <span class="plus">+</span>}
      {price.per !== "" && <small>per {price.per}</small>}
    </span>
  );
}

const priceOf = (model: CatalogueModel, name: "input" | "cached" | "output"): number | null => {
  return listPrices(model.offers[0])[name]?.value ?? null;
};

const Notes = ({
  model: { kind, input_modalities, output_modalities, retires_on, retires_in_days, replaced_by },
}: {
  model: CatalogueModel;
}) => {
  if (retires_on !== null)
    return (
      <State kind="warn">
        retires on {retires_on}, in {retires_in_days} days{replaced_by !== null && `; then ${replaced_by}`}
      </State>
    );
  const made = output_modalities.join(", ");
  return (
    <>
      {made !== kind && `${kind}: `}
      {input_modalities.join(", ")} → {made}
    </>
  );
};

const COLUMNS: Column<CatalogueModel>[] = [
  {
    id: "model",
    title: "Model",
    sortBy: ({ id }) => id,
    cell: (model) => (
      <span class="two-lines" title={[model.id, ...model.aliases].join(", ")}>
        <a href={modelPath(model.id)}>{model.id}</a>
        <small>
          <Notes model={model} />
        </small>
      </span>
    ),
  },
  {
    id: "input",
    title: "Input price",
    kind: "number",
    sortBy: (model) => priceOf(model, "input"),
    cell: (model) => <Price model={model} name="input" />,
  },
  {
    id: "cached",
    title: "Cached",
    room: 900,
    kind: "number",
    onPhone: "hidden",
    sortBy: (model) => priceOf(model, "cached"),
    cell: (model) => <Price model={model} name="cached" />,
  },
  {
    id: "output",
    title: "Output price",
    kind: "number",
    sortBy: (model) => priceOf(model, "output"),
    cell: (model) => <Price model={model} name="output" />,
  },
  {
    id: "first",
    title: "First content",
    kind: "number",
    sortBy: ({ measured }) => measured?.first_content_ms.p50 ?? null,
    cell: ({ measured }) => (
      <span
        title={
          measured === null ? "Not called in the last day" : `p95 ${known(measured.first_content_ms.p95, duration)}`
        }
      >
        {known(measured?.first_content_ms.p50 ?? null, duration)}
      </span>
    ),
  },
  {
    id: "speed",
    title: "Tokens/s",
    room: 900,
    kind: "number",
    onPhone: "hidden",
    sortBy: ({ measured }) => measured?.tokens_per_second ?? null,
    cell: ({ measured }) => known(measured?.tokens_per_second ?? null, decimal),
  },
  {
    id: "context",
    title: "Context",
    kind: "number",
    sortBy: ({ context_length }) => context_length,
    cell: ({ context_length }) => known(context_length, short),
  },
  {
    id: "limit",
    title: "Output limit",
    room: 1100,
    kind: "number",
    onPhone: "hidden",
    sortBy: ({ max_output_tokens }) => max_output_tokens,
    cell: ({ max_output_tokens }) => known(max_output_tokens, short),
  },
  {
    id: "offers",
    title: "Offers, in order",
    onPhone: "hidden",
    cell: ({ offers }) => {
      const names = offers.map(({ provider }) => provider).join(", ");
      return <span title={names}>{names || "none"}</span>;
    },
  },
];

const FILTERS = ["text", "kind", "input", "provider"] as const;

interface Options {
  name: (typeof FILTERS)[number];
  label: string;
  all: string;
  of: (model: CatalogueModel) => readonly string[];
}

const CHOICES: readonly Options[] = [
  { name: "kind", label: "Kind", all: "Every kind", of: ({ kind }) => [kind] },
  { name: "input", label: "Accepts", all: "Any input", of: ({ input_modalities }) => input_modalities },
  {
    name: "provider",
    label: "Provider",
    all: "Every provider",
    of: ({ offers }) => offers.map(({ provider }) => provider),
  },
];

function fits(model: CatalogueModel, query: URLSearchParams): boolean {
  const words = (query.get("text") ?? "").toLowerCase().split(/\s+/);
  const names = [model.id, model.display_name, ...model.aliases].join(" ").toLowerCase();
  return (
    words.every((word) => names.includes(word)) &&
    CHOICES.every(({ name, of }) => (query.get(name) ?? "") === "" || of(model).includes(query.get(name) ?? ""))
  );
}

function Filters({ models }: { models: readonly CatalogueModel[] }) {
  const { query } = place.value;
  return (
    <search class="tools">
      <input
        type="search"
        aria-label="Search models"
        placeholder="Search models"
        value={query.get("text") ?? ""}
        onInput={(event) => setQuery({ text: event.currentTarget.value }, true)}
      />
      {CHOICES.map(({ name, label, all, of }) => (
        <select
          key={name}
          aria-label={label}
          value={query.get(name) ?? ""}
          onChange={(event) => setQuery({ [name]: event.currentTarget.value }, true)}
        >
          <option value="">{all}</option>
          {[...new Set(models.flatMap(of))].sort().map((value) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </select>
      ))}
    </search>
  );
}

export function Models() {
  const loaded = useData("models", allModels);
  const { query } = place.value;
  const isNarrowed = FILTERS.some((name) => (query.get(name) ?? "") !== "");
  const clear = Object.fromEntries(FILTERS.map((name) => [name, undefined]));
  return (
    <>
      <PageHead title="Models" />
      <Loaded of={loaded} rows={12}>
        {({ models }) => {
          const shown = models.filter((model) => fits(model, query));
          return (
            <>
              <Filters models={models} />
              {shown.length > 0 ? (
                <DataTable
                  label="Models"
                  class="supply"
                  rows={shown}
                  keyOf={({ id }) => id}
                  columns={COLUMNS}
                  addressOf={({ id }) => modelPath(id)}
                />
              ) : isNarrowed ? (
                <Empty title="No matching models">
                  <p>None of the {whole(models.length)} models fits this search.</p>
                  <p>
                    <button type="button" onClick={() => setQuery(clear)}>
                      Show all models
                    </button>
                  </p>
                </Empty>
              ) : (
                <Empty title="No models">
                  <p>
                    A model is available when a provider that serves it is configured. See{" "}
                    <a href="/providers">providers</a>, or add the model under <code>models</code> in the configuration.
                  </p>
                </Empty>
              )}
              <p class="muted small below">
                {whole(shown.length)} of {whole(models.length)} models. Prices are those of the first offer, in US
                dollars per million tokens unless they name another unit; + means that some calls cost more. First
                content is the median of the last day.
              </p>
            </>
          );
        }}
      </Loaded>
    </>
  );
}
