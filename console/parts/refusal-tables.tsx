import { percent, whole } from "../format/numbers.ts";
import { full, when } from "../format/time.ts";
import { mayReadCalls } from "../state/may-read-calls.ts";
import { nameOfKey } from "../state/names.ts";
import { NO_KEY, OTHERS, type RefusalExample, type RefusalSum, reasonOf } from "../state/refusals.ts";
import { place } from "../state/router.ts";
import { State, words } from "./basics.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { callsWith } from "./filter-bar.tsx";

/** The same page with this filter. */
const narrowed = (changes: Readonly<Record<string, string>>): string => {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  query.delete("sort");
  return `/refused?${query}`;
};

const Reason = ({ name }: { name: string }) => (
  <State kind="bad">
    {reasonOf(name)?.status ?? ""} {words(name)}
  </State>
);

const Seen = ({ at }: { at: string | null }) => (at === null ? <>–</> : <span title={full(at)}>{when(at)}</span>);

/** The sums by reason, and what to do about each. */
export function ReasonTable({ rows, total }: { rows: readonly RefusalSum[]; total: number }) {
  const nameOf = ({ groups }: RefusalSum): string => groups[0] ?? "";
  const columns: Column<RefusalSum>[] = [
    {
      id: "reason",
      title: "Reason",
      cell: (row) => (
        <a href={narrowed({ reason: nameOf(row) })}>
          <Reason name={nameOf(row)} />
        </a>
      ),
    },
    {
      id: "share",
      title: "Share",
      onPhone: "hidden",
      cell: ({ requests }) => (
        <span class="share-of">
          <meter class="bar" min={0} max={Math.max(1, total)} value={requests} aria-hidden="true" />
          {percent(requests, total)}
        </span>
      ),
    },
    {
      id: "advice",
      title: "What to do",
      muted: true,
      cell: (row) => <span class="advice">{reasonOf(nameOf(row))?.advice ?? "–"}</span>,
    },
    { id: "last", title: "Last", muted: true, cell: ({ last_at: at }) => <Seen at={at} /> },
    {
      id: "requests",
      title: "Requests",
      kind: "number",
      sortBy: ({ requests }) => requests,
      cell: ({ requests }) => whole(requests),
      onPhone: "lead",
    },
  ];
  return <DataTable label="Refused by reason" rows={rows} keyOf={nameOf} columns={columns} />;
}

export interface Refuser {
  reason: string;
  /** The ID of a key; undefined if no existing one was presented. */
  key: string | undefined;
  address: string | undefined;
  sum: RefusalSum;
  /** The last one of this key and reason. Only admins see it. */
  example: RefusalExample | undefined;
}

/** Who was refused: a key, or an address without one. */
function Who({ key, address }: Refuser) {
  if (key === OTHERS || address === OTHERS)
    return <span title="Too many in one minute to count separately">others</span>;
  if (key !== undefined)
    return (
      <a href={`/keys/${encodeURIComponent(key)}`} title={key}>
        {nameOfKey(key)}
      </a>
    );
  return <a href={narrowed({ key: NO_KEY, address: address ?? "" })}>{address}</a>;
}

const REFUSER_COLUMNS: readonly Column<Refuser>[] = [
  { id: "who", title: "Key or address", cell: (row) => <Who {...row} /> },
  {
    id: "reason",
    title: "Reason",
    cell: ({ reason }) => (
      <a href={narrowed({ reason })}>
        <Reason name={reason} />
      </a>
    ),
  },
  {
    id: "told",
    title: "What the client was told",
    cell: ({ example }) =>
      example === undefined ? (
        <span class="muted">–</span>
      ) : (
        <span class="advice" title={`${example.endpoint}, ${full(example.at)}`}>
          {example.message} <small>{example.endpoint}</small>
        </span>
      ),
  },
  {
    id: "last",
    title: "Last, first",
    cell: ({ sum }) => (
      <span class="two-lines block">
        <Seen at={sum.last_at} />
        {sum.first_at !== sum.last_at && (
          <small>
            <Seen at={sum.first_at} />
          </small>
        )}
      </span>
    ),
  },
  {
    id: "calls",
    title: "Calls",
    cell: ({ key }) =>
      key === undefined || key === OTHERS || !mayReadCalls() ? (
        <span class="muted">–</span>
      ) : (
        <a href={callsWith({ key }, "24h")}>calls</a>
      ),
  },
  {
    id: "requests",
    title: "Requests",
    kind: "number",
    sortBy: ({ sum }) => sum.requests,
    cell: ({ reason, key, address, sum }) => (
      <a href={narrowed({ reason, key: key ?? NO_KEY, ...(address === undefined ? {} : { address }) })}>
        {whole(sum.requests)}
      </a>
    ),
    onPhone: "lead",
  },
];

export const RefuserTable = ({ rows }: { rows: readonly Refuser[] }) => (
  <DataTable
    label="Refused by key and address"
    rows={rows}
    keyOf={({ reason, key, address }) => `${reason} ${key} ${address}`}
    columns={REFUSER_COLUMNS}
  />
);
