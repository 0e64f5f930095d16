import type { CatalogueReport } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { appliesTo, dollars, unitWords } from "../state/prices.ts";
import { words } from "./basics.tsx";
import { type Column, DataTable } from "./data-table.tsx";

type Change = CatalogueReport["changes"][number];

interface Item {
  value: number;
  unit: string;
  currency: string;
}

/** A price as `$1.25 per million tokens`; other values as they are. */
function shownValue(value: unknown): string {
  if (value === undefined || value === null) return "none";
  if (!Array.isArray(value)) return typeof value === "object" ? JSON.stringify(value) : String(value);
  return (value as Item[])
    .map((item) => {
      const which = appliesTo(item);
      return `${dollars(item.value)} ${unitWords(item.unit)}${which === "" ? "" : ` (${which})`}`;
    })
    .join("; ");
}

/** By how much a single price moves. */
function moveOf({ before, after }: Change): string {
  const one = (value: unknown) => (Array.isArray(value) && value.length === 1 ? (value[0] as Item) : undefined);
  const [from, to] = [one(before), one(after)];
  if (from === undefined || to === undefined || from.unit !== to.unit || from.value === 0) return "–";
  const share = ((to.value - from.value) / from.value) * 100;
  return `${share > 0 ? "+" : "−"}${Math.round(Math.abs(share))}%`;
}

const fieldWords = (field: string): string =>
  words(field.replace(/^pricings\./, "price: ").replace(/^price_multiples\./, "term: "));

const COLUMNS: Column<Change>[] = [
  { id: "model", title: "Model", sortBy: ({ model }) => model, cell: ({ model }) => model },
  { id: "field", title: "Value", cell: ({ field }) => fieldWords(field) },
  { id: "before", title: "Before", cell: ({ before }) => <span class="muted">{shownValue(before)}</span> },
  { id: "after", title: "After", cell: ({ after }) => shownValue(after) },
  { id: "move", title: "Change", kind: "number", onPhone: "lead", cell: moveOf },
];

export const ChangeTable = ({ label, changes }: { label: string; changes: readonly Change[] }) => (
  <DataTable label={label} rows={changes} keyOf={({ model, field }) => `${model} ${field}`} columns={COLUMNS} />
);

/** What an update changes: new models, and values with those before them. */
export function CatalogueChanges({
  report: { added, changes },
}: {
  report: Pick<CatalogueReport, "added" | "changes">;
}) {
  return (
    <div class="catalogue-changes">
      {added.length > 0 && (
        <p class="small">
          {counted(added.length, "new model")}:{" "}
          {added.map(({ model, priced }) => (priced ? model : `${model} (without a price)`)).join(", ")}
        </p>
      )}
      {changes.length === 0 ? (
        <p class="muted">{added.length === 0 ? "Nothing changes." : "No value of a known model changes."}</p>
      ) : (
        <ChangeTable label="Changed values" changes={changes} />
      )}
    </div>
  );
}
