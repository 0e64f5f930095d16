import { useState } from "preact/hooks";
import type { OfferPrices } from "../api/types.ts";
import { money } from "../format/money.ts";
import { type CallSize, costOf, pricedParts } from "../state/cost-of.ts";
import { type Column, DataTable } from "./data-table.tsx";

export interface Used extends CallSize {
  callsPerDay: number;
}

const EXAMPLE: Used = {
  callsPerDay: 1_000,
  prompt: 2_000,
  cached: 0,
  completion: 500,
  images: 1,
  seconds: 5,
  characters: 1_000,
};

const FIELDS: readonly { name: keyof Used; label: string }[] = [
  { name: "prompt", label: "Input tokens" },
  { name: "cached", label: "Cached of them" },
  { name: "completion", label: "Output tokens" },
  { name: "images", label: "Images" },
  { name: "seconds", label: "Seconds" },
  { name: "characters", label: "Characters" },
];

const DAYS = 30;

interface Row {
  provider: string;
  cost: number | undefined;
  cheapest: boolean;
}

const columnsOf = (callsPerDay: number): Column<Row>[] => {
  const shown = ({ cost }: Row, factor: number) =>
    cost === undefined ? "unpriced" : cost === 0 ? "free" : money(cost * factor);
  return [
    {
      id: "provider",
      title: "Offer",
      cell: ({ provider, cheapest }) => (
        <>
          {provider} {cheapest && <span class="muted small">lowest</span>}
        </>
      ),
    },
    { id: "call", title: "A call", kind: "number", cell: (row) => shown(row, 1) },
    { id: "day", title: "A day", kind: "number", cell: (row) => shown(row, callsPerDay) },
    {
      id: "month",
      title: `${DAYS} days`,
      kind: "number",
      onPhone: "lead",
      cell: (row) => shown(row, callsPerDay * DAYS),
    },
  ];
};

/** What calls of a size cost at each offer. It begins with the mean of the model's own calls, if there are any. */
export function CostCalculator({ offers, used }: { offers: readonly OfferPrices[]; used: Used | undefined }) {
  const [size, setSize] = useState<Used>(used ?? EXAMPLE);
  const parts = pricedParts(offers);
  if (parts.size === 0) return null;
  const counted = Object.fromEntries(
    FIELDS.map(({ name }) => [name, parts.has(name as keyof CallSize) ? size[name] : 0]),
  ) as unknown as CallSize;
  const costs = offers.map(({ provider, prices }) => ({ provider, cost: costOf(prices, counted) }));
  const lowest = Math.min(...costs.flatMap(({ cost }) => cost ?? []));
  const rows = costs.map((row): Row => ({ ...row, cheapest: costs.length > 1 && row.cost === lowest }));
  const field = (name: keyof Used, label: string) => (
    <label key={name}>
      {label}
      <input
        type="number"
        min="0"
        step="1"
        value={size[name]}
        onInput={(event) => {
          const value = Number(event.currentTarget.value);
          if (Number.isFinite(value) && value >= 0) setSize({ ...size, [name]: value });
        }}
      />
    </label>
  );
  return (
    <section class="calculator" aria-label="Cost calculator">
      <h2 class="over">Cost calculator</h2>
      <div class="sizes">
        {FIELDS.filter(({ name }) => parts.has(name as keyof CallSize)).map(({ name, label }) => field(name, label))}
        {field("callsPerDay", "Calls a day")}
      </div>
      <p class="muted small">
        {used === undefined
          ? "An example. "
          : "It begins with the mean of the calls of this model in the last 7 days. "}
        At list prices, without discounts, cache writes, tools or special terms.
      </p>
      <DataTable
        label="Cost at each offer"
        rows={rows}
        keyOf={({ provider }) => provider}
        columns={columnsOf(size.callsPerDay)}
      />
    </section>
  );
}
