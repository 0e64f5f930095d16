import { useEffect, useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { EndUser, UsageAnswer } from "../api/types.ts";
import { money } from "../format/money.ts";
import { counted, short, whole } from "../format/numbers.ts";
import { ago, full } from "../format/time.ts";
import { Empty, PageHead } from "../parts/basics.tsx";
import { Chart } from "../parts/chart.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { CAP_USD, EndUserLimits, nameOfOwner } from "../parts/end-user-limits.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { Tile } from "../parts/tile.tsx";
import { useData } from "../parts/use-data.ts";
import { ZoneChoice } from "../parts/zone-choice.tsx";
import { limitWords } from "../state/end-users.ts";
import { writeFilter } from "../state/filter.ts";
import { mayReadCalls } from "../state/may-read-calls.ts";
import { nameOfKey, nameOfProject } from "../state/names.ts";
import { type Range, rangeQuery, readRange } from "../state/range.ts";
import { goTo, place } from "../state/router.ts";
import { stackOf } from "../state/usage.ts";
import { readZone } from "../state/zone.ts";

function Spending({ id, range, zone }: { id: string; range: Range; zone: string }) {
  const { query } = place.value;
  const key = JSON.stringify([id, zone, query.get("range"), query.get("from"), query.get("to")]);
  const usage = useData(key, (abort) =>
    ask<UsageAnswer>("/api/usage", { ...rangeQuery(range), zone, end_user: id, by: "day,model" }, abort),
  );
  return (
    <Loaded of={usage} rows={4}>
      {({ data, total }) => {
        const { times, everyMs, series } = stackOf(data, ["day", "model"], "cost");
        const tones = ["one", "two", "three", "rest"] as const;
        return (
          <div class="over-time">
            <Chart
              title="Cost by day and model"
              times={times}
              everyMs={everyMs}
              span={[range.fromMs, range.toMs ?? Date.now()]}
              kind="bars"
              height={220}
              unit="money"
              summary={`${money(total.cost_nano_usd)} for ${counted(total.calls, "call")}.`}
              series={series.map(({ name, values }, at) => ({ name, values, tone: tones[at] ?? "rest" }))}
            />
          </div>
        );
      }}
    </Loaded>
  );
}

type ByKey = EndUser["keys"][number];

const keyColumns = (id: string): Column<ByKey>[] => [
  {
    id: "key",
    title: "Key",
    cell: ({ key }) => <a href={`/keys/${encodeURIComponent(key)}`}>{nameOfKey(key)}</a>,
  },
  { id: "project", title: "Project", muted: true, cell: ({ project }) => nameOfProject(project) },
  {
    id: "last",
    title: "Last used",
    muted: true,
    room: 900,
    cell: ({ last_used_at: last }) => <span title={full(last)}>{ago(last)}</span>,
  },
  {
    id: "requests",
    title: "Calls today",
    kind: "number",
    cell: ({ key, requests }) =>
      mayReadCalls() ? <a href={callsWith({ key, end_user: id }, "24h")}>{whole(requests)}</a> : whole(requests),
  },
  { id: "tokens", title: "Tokens today", kind: "number", room: 900, cell: ({ tokens }) => short(tokens) },
  { id: "total", title: "Total", kind: "number", cell: ({ spent_nano_usd: spent }) => money(spent.total) },
  { id: "month", title: "This month", kind: "number", cell: ({ spent_nano_usd: spent }) => money(spent.month) },
  { id: "day", title: "Today", kind: "number", cell: ({ spent_nano_usd: spent }) => money(spent.day), onPhone: "lead" },
];

type Limit = EndUser["limits"][number];

const LIMIT_COLUMNS: readonly Column<Limit>[] = [
  { id: "owner", title: "Of its calls with", cell: (limit) => nameOfOwner(limit) },
  { id: "limits", title: "Limits", cell: ({ limits }) => limitWords(limits) },
  {
    id: "changed",
    title: "Changed",
    muted: true,
    cell: ({ changed_at: at }) => <span title={full(at)}>{ago(at)}</span>,
    onPhone: "lead",
  },
];

function Shown({ item, range, zone }: { item: EndUser; range: Range; zone: string }) {
  const { id, spent_nano_usd: spent, keys, limits } = item;
  const usage = (days: string): string =>
    `/usage?${new URLSearchParams({ q: writeFilter({ end_user: id }), range: days, by: "model,key" })}`;
  return (
    <>
      <dl class="tiles four">
        <Tile label="Spent today" value={money(spent.day)} address={usage("24h")} note="UTC" />
        <Tile label="Spent this month" value={money(spent.month)} address={usage("30d")} note="UTC" />
        <Tile label="Spent in total" value={money(spent.total)} address={usage("30d")} />
        <Tile
          label="Calls today"
          value={whole(item.requests)}
          address={mayReadCalls() ? callsWith({ end_user: id }, "24h") : undefined}
          note={`${short(item.tokens)} tokens`}
        />
      </dl>
      <Spending id={id} range={range} zone={zone} />
      <section class="below">
        <h2>Limits of its own</h2>
        {limits.length === 0 ? (
          <p class="muted note">None. Those that its key, project or the gateway has for every end user apply.</p>
        ) : (
          <DataTable
            label="Limits of its own"
            rows={limits}
            keyOf={(limit) => nameOfOwner(limit)}
            columns={LIMIT_COLUMNS}
          />
        )}
      </section>
      <section class="below">
        <h2>Keys that it was named with</h2>
        <DataTable label="Keys" rows={keys} keyOf={({ key }) => key} columns={keyColumns(id)} />
      </section>
    </>
  );
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

/** Escape leads back to the list, unless something is open or being edited. */
function useEscape(): void {
  useEffect(() => {
    const leave = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (document.querySelector("dialog[open], :popover-open") !== null) return;
      if (event.target instanceof HTMLElement && event.target.closest("input, textarea, select") !== null) return;
      goTo("/end-users");
    };
    addEventListener("keydown", leave);
    return () => removeEventListener("keydown", leave);
  }, []);
}

/** What one end user costs and may use. */
export function OneEndUser() {
  useEscape();
  const { path, query } = place.value;
  const id = decoded(path.split("/").slice(2).join("/"));
  const range = readRange(query, Date.now(), "30d");
  const zone = readZone(query);
  const [form, setForm] = useState<"cap" | "limits" | undefined>(undefined);
  const item = useData(id, (abort) => ask<{ data: EndUser }>(`/api/end_users/${encodeURIComponent(id)}`, {}, abort));
  const mayChange = session.value?.role === "admin" && item.data !== undefined && item.data.data.keys.length > 0;
  return (
    <>
      <p class="crumb">
        <a href="/end-users">
          <Icon name="back" size={15} /> End users
        </a>
      </p>
      <PageHead title={`End user ${id}`}>
        <RangeChoice range={range} />
        <ZoneChoice zone={zone} />
        {mayReadCalls() && (
          <a class="button" href={callsWith({ end_user: id }, "30d")}>
            Its calls
          </a>
        )}
        {mayChange && (
          <>
            <button type="button" onClick={() => setForm("limits")}>
              Change limits
            </button>
            <button type="button" class="main" onClick={() => setForm("cap")}>
              Cap at ${CAP_USD} a day
            </button>
          </>
        )}
      </PageHead>
      <Loaded of={item}>
        {({ data }) =>
          data.keys.length === 0 && data.limits.length === 0 ? (
            <Empty title="No call named this end user">
              <p>
                <a href="/end-users">All end users</a>
              </p>
            </Empty>
          ) : (
            <Shown item={data} range={range} zone={zone} />
          )
        }
      </Loaded>
      {form !== undefined && item.data && (
        <EndUserLimits
          item={item.data.data}
          isCap={form === "cap"}
          onDone={item.reload}
          onClose={() => setForm(undefined)}
        />
      )}
    </>
  );
}
