import { ask } from "../api/client.ts";
import type { Page, ReceiptItem } from "../api/types.ts";
import { usd } from "../format/money.ts";
import { duration, known } from "../format/numbers.ts";
import { full, when } from "../format/time.ts";
import { Outcome } from "../parts/basics.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useData } from "../parts/use-data.ts";

/** The newest calls of a key. */
export function LastCalls({ keyId }: { keyId: string }) {
  const loaded = useData(keyId, (abort) => ask<Page<ReceiptItem>>("/api/receipts", { key: keyId, limit: 8 }, abort));
  return (
    <section class="group">
      <h2>Last calls</h2>
      <Loaded of={loaded} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="muted">No calls with this key are stored.</p>
          ) : (
            <>
              <DataTable
                label="Last calls"
                rows={data}
                keyOf={({ id }) => id}
                addressOf={({ id }) => `/calls/${id}`}
                columns={[
                  {
                    id: "time",
                    title: "Time",
                    cell: ({ id, created_at }) => (
                      <a href={`/calls/${id}`} title={full(created_at)}>
                        {when(created_at)}
                      </a>
                    ),
                  },
                  {
                    id: "outcome",
                    title: "Outcome",
                    cell: ({ outcome }) => <Outcome outcome={outcome} />,
                    onPhone: "lead",
                  },
                  { id: "model", title: "Model", cell: ({ model }) => <span title={model}>{model}</span> },
                  {
                    id: "provider",
                    title: "Provider",
                    muted: true,
                    onPhone: "hidden",
                    cell: ({ provider }) => provider || "–",
                  },
                  {
                    id: "first",
                    title: "First content",
                    kind: "number",
                    onPhone: "hidden",
                    cell: ({ first_content_ms }) => known(first_content_ms, duration),
                  },
                  { id: "total", title: "Total", kind: "number", cell: ({ total_ms }) => duration(total_ms) },
                  {
                    id: "cost",
                    title: "Cost",
                    kind: "number",
                    cell: ({ cost_nano_usd }) => (cost_nano_usd === 0 ? "$0" : usd(cost_nano_usd, 6)),
                  },
                ]}
              />
              <p class="list-foot">
                <a href={callsWith({ key: keyId }, "30d")}>All calls with this key</a>
              </p>
            </>
          )
        }
      </Loaded>
    </section>
  );
}
