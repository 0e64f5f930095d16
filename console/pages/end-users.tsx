import { useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { EndUser, Page } from "../api/types.ts";
import { money } from "../format/money.ts";
import { whole } from "../format/numbers.ts";
import { ago, full } from "../format/time.ts";
import { Choice, Empty, PageHead } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { CAP_USD, EndUserLimits, nameOfOwner } from "../parts/end-user-limits.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { OwnerFilter, ownerFilter } from "../parts/owner-filter.tsx";
import { useData } from "../parts/use-data.ts";
import { endUserAddress, limitWords } from "../state/end-users.ts";
import { nameOfKey } from "../state/names.ts";
import { place, setQuery } from "../state/router.ts";

const PAGE_SIZE = 50;

const columnsOf = (onCap: ((item: EndUser) => void) | undefined): Column<EndUser>[] => [
  {
    id: "id",
    title: "End user",
    cell: ({ id }) => (
      <a href={endUserAddress(id)} title={id}>
        {id}
      </a>
    ),
  },
  {
    id: "today",
    title: "Today",
    kind: "number",
    cell: ({ spent_nano_usd: spent }) => money(spent.day),
    onPhone: "lead",
  },
  { id: "month", title: "This month", kind: "number", cell: ({ spent_nano_usd: spent }) => money(spent.month) },
  { id: "total", title: "Total", room: 900, kind: "number", cell: ({ spent_nano_usd: spent }) => money(spent.total) },
  { id: "requests", title: "Calls today", kind: "number", cell: ({ requests }) => whole(requests) },
  {
    id: "limits",
    title: "Own limits",
    cell: ({ limits }) => {
      const words = limits.map((one) => `${nameOfOwner(one)}: ${limitWords(one.limits)}`).join("; ");
      return words === "" ? null : <span title={words}>{words}</span>;
    },
  },
  {
    id: "last",
    title: "Last used",
    room: 900,
    muted: true,
    cell: ({ last_used_at: last }) => (last === null ? "never" : <span title={full(last)}>{ago(last)}</span>),
  },
  {
    id: "keys",
    title: "Keys",
    room: 1100,
    muted: true,
    cell: ({ keys }) => {
      const names = keys.map(({ key }) => nameOfKey(key)).join(", ");
      return <span title={names}>{names}</span>;
    },
  },
  ...(onCap === undefined
    ? []
    : [
        {
          id: "acts",
          title: "Actions",
          kind: "acts",
          cell: (item) => (
            <button
              type="button"
              class="quiet"
              aria-label={`Cap at $${CAP_USD} a day: ${item.id}`}
              onClick={() => onCap(item)}
            >
              Cap at ${CAP_USD} a day
            </button>
          ),
        } satisfies Column<EndUser>,
      ]),
];

const Search = ({ text }: { text: string }) => (
  <search>
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const written = String(new FormData(event.currentTarget).get("text") ?? "").trim();
        setQuery({ text: written === "" ? undefined : written, after: undefined });
      }}
    >
      <input
        name="text"
        type="search"
        aria-label="ID begins with"
        placeholder="ID begins with"
        maxLength={256}
        defaultValue={text}
      />
      <button type="submit">Search</button>
    </form>
  </search>
);

const LIMITED = [
  { value: "all", name: "All" },
  { value: "limited", name: "With own limits" },
] as const;

export function EndUsers() {
  const { query } = place.value;
  const after = query.get("after") ?? undefined;
  const text = query.get("text") ?? undefined;
  const limited = query.get("limited") === "true" ? "true" : undefined;
  const { project, key } = ownerFilter();
  const filter = { project, key, text, limited };
  const [capped, setCapped] = useState<EndUser | undefined>(undefined);
  const data = useData(JSON.stringify([filter, after]), (abort) =>
    ask<Page<EndUser>>("/api/end_users", { limit: PAGE_SIZE, ...filter, after }, abort),
  );
  const mayChange = session.value?.role === "admin";
  const isNarrowed = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <PageHead title="End users">
        <a class="button" href="/usage?by=end_user&range=30d">
          By spending
        </a>
      </PageHead>
      <div class="filters">
        <Search key={text} text={text ?? ""} />
        <Choice
          label="Limits"
          value={limited === undefined ? "all" : "limited"}
          options={LIMITED}
          onChange={(name) => setQuery({ limited: name === "limited" ? "true" : undefined, after: undefined })}
        />
      </div>
      <OwnerFilter />
      <Loaded of={data}>
        {({ data: items, next }) =>
          items.length === 0 ? (
            <NoEndUsers isNarrowed={isNarrowed} />
          ) : (
            <>
              <DataTable
                label="End users"
                rows={items}
                keyOf={({ id }) => id}
                columns={columnsOf(mayChange ? setCapped : undefined)}
                addressOf={({ id }) => endUserAddress(id)}
              />
              <nav class="pager" aria-label="Pagination for end users">
                {after !== undefined && (
                  <button type="button" onClick={() => setQuery({ after: undefined })}>
                    First
                  </button>
                )}
                {next !== null && (
                  <button type="button" onClick={() => setQuery({ after: next })}>
                    Next
                  </button>
                )}
              </nav>
              <p class="muted note">In the order of their IDs. Today and this month are those of UTC.</p>
            </>
          )
        }
      </Loaded>
      {capped && <EndUserLimits item={capped} isCap onDone={data.reload} onClose={() => setCapped(undefined)} />}
    </>
  );
}

const NoEndUsers = ({ isNarrowed }: { isNarrowed: boolean }) =>
  isNarrowed ? (
    <Empty title="No matching end users">
      <p>
        <button
          type="button"
          onClick={() => setQuery({ text: undefined, limited: undefined, project: undefined, key: undefined })}
        >
          Remove the filter
        </button>
      </p>
    </Empty>
  ) : (
    <Empty title="No end users">
      <p>
        Send the header <code>x-trivium-user</code>, or <code>user</code> in the body, to record who uses your program.
        Each one then has its own spending and limits here.
      </p>
    </Empty>
  );
