import { ask } from "../api/client.ts";
import type { Page, ReceiptDetail, ReceiptItem } from "../api/types.ts";
import { duration } from "../format/numbers.ts";
import { full, when } from "../format/time.ts";
import { costWords } from "../state/call-cost.ts";
import { nameOfKey } from "../state/names.ts";
import { Outcome } from "./basics.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { callsWith } from "./filter-bar.tsx";
import { Loaded } from "./loaded.tsx";
import { useData } from "./use-data.ts";

/** The most calls of each relation. */
const MOST = 10;
const AROUND_MS = 5 * 60_000;

interface Neighbour {
  call: ReceiptItem;
  relation: string;
}

const COLUMNS: readonly Column<Neighbour>[] = [
  {
    id: "time",
    title: "Time",
    cell: ({ call }) => (
      <a href={`/calls/${call.id}`} title={full(call.created_at)}>
        {when(call.created_at)}
      </a>
    ),
  },
  { id: "outcome", title: "Outcome", onPhone: "lead", cell: ({ call }) => <Outcome outcome={call.outcome} /> },
  { id: "relation", title: "Same", cell: ({ relation }) => relation },
  { id: "model", title: "Model", cell: ({ call }) => call.model },
  { id: "total", title: "Total", kind: "number", cell: ({ call }) => duration(call.total_ms) },
  { id: "cost", title: "Cost", kind: "number", cell: ({ call }) => costWords(call).text },
];

/** Other calls of the same request, trace, connection or batch. A call with several relations is listed by the closest. */
async function load(call: ReceiptDetail, abort: AbortSignal): Promise<Neighbour[]> {
  const find = async (relation: string, query: Readonly<Record<string, string | null>>): Promise<Neighbour[]> => {
    const [value] = Object.values(query);
    if (value === null || value === undefined) return [];
    const given = Object.fromEntries(Object.entries(query).map(([name, text]) => [name, text ?? undefined]));
    const { data } = await ask<Page<ReceiptItem>>("/api/receipts", { ...given, limit: MOST }, abort);
    return data.map((other) => ({ call: other, relation }));
  };
  const found = await Promise.all([
    find("request", { text: call.request_id }),
    find("trace", { text: call.trace_id }),
    find("live connection", { session: call.session_id, ...aroundIt(call) }),
    find("batch", { batch: call.batch?.id ?? null, ...aroundIt(call) }),
  ]);
  const known = new Set([call.id]);
  return found.flat().filter(({ call: { id } }) => !known.has(id) && known.add(id));
}

const HOUR_MS = 3_600_000;

const aroundIt = ({ created_at }: Pick<ReceiptDetail, "created_at">) => ({
  from: new Date(Date.parse(created_at) - HOUR_MS).toISOString(),
  to: new Date(Date.parse(created_at) + HOUR_MS).toISOString(),
});

/** Calls that belong to this one, and the way to those that may. */
export function CallNeighbours({ call }: { call: ReceiptDetail }) {
  const found = useData(call.id, (abort) => load(call, abort));
  const atMs = Date.parse(call.created_at);
  const [from, to] = [new Date(atMs - AROUND_MS).toISOString(), new Date(atMs + AROUND_MS).toISOString()];
  const around = (filter: Parameters<typeof callsWith>[0]) =>
    `${callsWith(filter)}&${new URLSearchParams({ from, to })}`;
  return (
    <section class="neighbours" aria-labelledby="related">
      <h2 id="related">Related calls</h2>
      <Loaded of={found} rows={2}>
        {(neighbours) =>
          neighbours.length === 0 ? (
            <p class="muted">No other call of the same request, trace, live connection or batch.</p>
          ) : (
            <DataTable
              label="Related calls"
              rows={neighbours}
              keyOf={({ call: { id } }) => id}
              columns={COLUMNS}
              addressOf={({ call: { id } }) => `/calls/${id}`}
            />
          )
        }
      </Loaded>
      <p class="links">
        Five minutes before and after: <a href={around({ key: call.key })}>calls of {nameOfKey(call.key)}</a>
        {call.end_user !== null && (
          <>
            , <a href={around({ end_user: call.end_user })}>of {call.end_user}</a>
          </>
        )}
        , <a href={around({ model: call.model })}>of {call.model}</a>
        {call.session_id !== null && (
          <>
            . <a href={callsWith({ session: call.session_id }, "30d")}>All turns of the live connection</a>
          </>
        )}
        {call.batch !== null && (
          <>
            . <a href={callsWith({ batch: call.batch.id }, "30d")}>All calls of the batch</a>
          </>
        )}
      </p>
    </section>
  );
}
