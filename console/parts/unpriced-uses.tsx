import type { Overview } from "../api/types.ts";
import { whole } from "../format/numbers.ts";
import { nameOfKey } from "../state/names.ts";
import { type Column, DataTable } from "./data-table.tsx";

type Use = Overview["unpriced"][number];

const COLUMNS: readonly Column<Use>[] = [
  { id: "name", title: "Name", cell: ({ name, receipt }) => <a href={`/calls/${receipt}`}>{name}</a> },
  { id: "model", title: "Model", cell: ({ model, provider }) => `${model} via ${provider}` },
  { id: "key", title: "Key", cell: ({ key }) => <a href={`/keys/${key}`}>{nameOfKey(key)}</a> },
  { id: "calls", title: "Calls", kind: "number", cell: ({ calls }) => whole(calls), onPhone: "lead" },
];

/** Use that the totals leave out because its price is unknown. */
export const UnpricedUses = ({ uses }: { uses: readonly Use[] }) =>
  uses.length === 0 ? null : (
    <section class="below">
      <h2>Use without a known price</h2>
      <p class="muted note">It is in no total. Each name leads to its last call.</p>
      <DataTable
        label="Use without a known price"
        rows={uses}
        keyOf={({ key, name, produced_by: by }) => `${key} ${name} ${by}`}
        columns={COLUMNS}
      />
    </section>
  );
