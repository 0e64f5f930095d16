import type { OfferPrices } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { appliesTo, dollars, unitWords } from "../state/prices.ts";
import { words } from "./basics.tsx";
import { type Column, DataTable } from "./data-table.tsx";

type Price = OfferPrices["prices"][number];

interface Row {
  id: string;
  name: string;
  value: number;
  unit: string;
  applies: string;
  origin: Price["origin"];
  source: string | null;
  asOf: string | null;
  providers: string[];
}

const DAY_MS = 86_400_000;
/** Older prices are marked. */
const OLD_DAYS = 90;

const ageOf = (asOf: string): number => Math.max(0, Math.floor((Date.now() - Date.parse(asOf)) / DAY_MS));

const ageWords = (days: number): string =>
  days === 0 ? "today" : `${counted(days, "day")}${days > OLD_DAYS ? ", old" : ""}`;

/** One row for each price; offers with the same price share it. */
function priceRows(offers: readonly OfferPrices[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { provider, prices } of offers) {
    for (const { name, items, origin, source, as_of: asOf } of prices) {
      for (const item of items) {
        const row = { name, value: item.value, unit: item.unit, applies: appliesTo(item), origin, source, asOf };
        const id = JSON.stringify(row);
        const known = rows.get(id);
        if (known === undefined) rows.set(id, { id, ...row, providers: [provider] });
        else if (!known.providers.includes(provider)) known.providers.push(provider);
      }
    }
  }
  return [...rows.values()];
}

const NAMES: Readonly<Record<string, string>> = {
  prompt: "input",
  completion: "output",
  input_cache_read: "cached input",
  input_cache_write: "cache write",
  input_cache_write_5_min: "cache write, 5 minutes",
  input_cache_write_1_h: "cache write, 1 hour",
  internal_reasoning: "reasoning",
};

const ORIGINS: Readonly<Record<string, string>> = {
  "built-in": "built in",
  update: "update",
  configuration: "configuration",
  simulator: "simulator",
  default: "default",
};

const columnsOf = (count: number): Column<Row>[] => [
  { id: "name", title: "Price", cell: ({ name }) => NAMES[name] ?? words(name) },
  {
    id: "value",
    title: "USD",
    kind: "number",
    onPhone: "lead",
    cell: ({ value }) => (value === 0 ? "free" : dollars(value)),
  },
  { id: "unit", title: "Unit", cell: ({ unit }) => <span class="muted">{unitWords(unit)}</span> },
  { id: "applies", title: "Applies to", cell: ({ applies }) => applies || <span class="muted">all calls</span> },
  {
    id: "offers",
    title: "Offers",
    cell: ({ providers }) => (providers.length === count && count > 1 ? "all" : providers.join(", ")),
  },
  {
    id: "origin",
    title: "Origin",
    cell: ({ origin, source }) =>
      origin === "update" ? `update, ${source ?? "unknown list"}` : (ORIGINS[origin] ?? origin),
  },
  {
    id: "age",
    title: "Age",
    kind: "number",
    cell: ({ asOf }) => (asOf === null ? "–" : <span title={`as of ${asOf}`}>{ageWords(ageOf(asOf))}</span>),
  },
];

/** Every price of a model's offers, with where it is from and how old it is. */
export function PriceTable({ offers }: { offers: readonly OfferPrices[] }) {
  const rows = priceRows(offers);
  const unpriced = offers.filter(({ prices }) => prices.length === 0);
  const notes = new Set(offers.flatMap(({ note }) => note ?? []));
  const multiples = new Set(
    offers.flatMap((offer) => Object.entries(offer.multiples).map(([term, factor]) => `${words(term)} × ${factor}`)),
  );
  return (
    <>
      {rows.length > 0 && (
        <DataTable label="Prices" rows={rows} keyOf={({ id }) => id} columns={columnsOf(offers.length)} />
      )}
      {unpriced.length > 0 && (
        <p class="small below">
          {unpriced.map(({ provider }) => provider).join(", ")}: unpriced. Calls are recorded with a cost of $0, and no
          sum includes them. Set a price under <code>models</code> in the configuration; an empty price list there means
          free.
        </p>
      )}
      {multiples.size > 0 && <p class="muted small below">Terms: {[...multiples].join(", ")}.</p>}
      {[...notes].map((note) => (
        <p key={note} class="muted small below">
          {note}
        </p>
      ))}
    </>
  );
}
