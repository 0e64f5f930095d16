import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import { counted } from "../format/numbers.ts";
import { Empty, PageHead, words } from "../parts/basics.tsx";
import { Chart, type Tone } from "../parts/chart.tsx";
import { CopyLink } from "../parts/copy-link.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { OutOfDate } from "../parts/out-of-date.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { ReasonTable, type Refuser, RefuserTable } from "../parts/refusal-tables.tsx";
import { SavedViews } from "../parts/saved-views.tsx";
import { useData } from "../parts/use-data.ts";
import { mayReadCalls } from "../state/may-read-calls.ts";
import { nameOfKey } from "../state/names.ts";
import { type Range, rangeQuery, readRange } from "../state/range.ts";
import { NO_KEY, partOf, type RefusalExample, type RefusalSums, refusalStack } from "../state/refusals.ts";
import { place, setQuery } from "../state/router.ts";

const FILTERS = ["reason", "key", "address", "project"] as const;
const TONES: readonly Tone[] = ["one", "two", "three", "rest"];
const TURN_MS = 15_000;
const KEPT_MS = 7 * 24 * 3_600_000;

const filterOf = (query: URLSearchParams): Partial<Record<(typeof FILTERS)[number], string>> =>
  Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));

interface Data {
  overTime: RefusalSums;
  byReason: RefusalSums;
  byKey: RefusalSums;
  byAddress: RefusalSums;
  examples: RefusalExample[];
}

/** Those with a key by their key, the others by their address. */
function refusersOf({ byKey, byAddress, examples }: Data): Refuser[] {
  const exampleOf = (reason: string, key: string): RefusalExample | undefined =>
    examples.find((one) => one.reason === reason && one.key === key);
  const ofKeys = byKey.data
    .filter(({ groups }) => groups[1] !== NO_KEY)
    .map((sum): Refuser => {
      const [reason = "", key = ""] = sum.groups;
      return { reason, key, address: undefined, sum, example: exampleOf(reason, key) };
    });
  const ofAddresses = byAddress.data.map((sum): Refuser => {
    const [reason = "", address = ""] = sum.groups;
    return { reason, key: undefined, address, sum, example: exampleOf(reason, NO_KEY) };
  });
  return [...ofKeys, ...ofAddresses].sort((one, other) => other.sum.requests - one.sum.requests);
}

const filterWords = (name: string, value: string): string =>
  name === "key" ? (value === NO_KEY ? "no known key" : nameOfKey(value)) : name === "reason" ? words(value) : value;

function Filters() {
  const filters = Object.entries(filterOf(place.value.query));
  if (filters.length === 0) return null;
  return (
    <ul class="chips filters" aria-label="Filters">
      {filters.map(([name, value]) => (
        <li key={name}>
          <button
            type="button"
            class="chip"
            aria-label={`Remove filter ${name} ${filterWords(name, value)}`}
            onClick={() => setQuery({ [name]: undefined })}
          >
            <span class="muted">{name}</span> {filterWords(name, value)}
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function OverTime({ sums, range }: { sums: RefusalSums; range: Range }) {
  const toMs = range.toMs ?? Date.now();
  const { everyMs } = partOf(range, toMs);
  const { times, series } = refusalStack(sums.data, { fromMs: range.fromMs, toMs }, everyMs);
  return (
    <div class="over-time">
      <Chart
        title="Refused requests"
        times={times}
        everyMs={everyMs}
        kind="bars"
        height={220}
        unit="count"
        summary={`${counted(sums.total.requests, "request")} refused.`}
        series={series.map(({ name, values }, at) => ({ name: words(name), values, tone: TONES[at] ?? "rest" }))}
        onSpan={(fromMs, untilMs) =>
          setQuery({
            from: new Date(fromMs).toISOString(),
            to: new Date(Math.max(untilMs, fromMs + 60_000)).toISOString(),
            range: undefined,
          })
        }
      />
    </div>
  );
}

function Found({ data, range }: { data: Data; range: Range }) {
  const isCut = data.byKey.groups_left_out || data.byAddress.groups_left_out;
  return (
    <>
      <OverTime sums={data.overTime} range={range} />
      <ReasonTable rows={data.byReason.data} total={data.byReason.total.requests} />
      <section class="below">
        <h2>Who was refused</h2>
        <RefuserTable rows={refusersOf(data)} />
        <p class="muted note">
          The sentence is that of the last such request to the process that answers, since its start. Only admins see
          it.
        </p>
        {isCut && <p class="muted note">There are more. Choose a reason or a shorter range.</p>}
      </section>
    </>
  );
}

export function Refused() {
  const { query } = place.value;
  const range = readRange(query, Date.now(), "24h");
  const filter = filterOf(query);
  const found = useData(
    JSON.stringify([filter, query.get("range"), query.get("from"), query.get("to")]),
    async (abort) => {
      const narrow = { ...filter, ...rangeQuery(readRange(query, Date.now(), "24h")) };
      const sums = (by: string, more: Readonly<Record<string, string>> = {}) =>
        ask<RefusalSums>("/api/refusals", { ...narrow, ...more, by }, abort);
      const { to: _to, ...since } = narrow;
      const none: RefusalSums = {
        data: [],
        examples: [],
        total: { requests: 0, first_at: null, last_at: null },
        groups_left_out: false,
      };
      const withoutKey = filter.key === undefined || filter.key === NO_KEY;
      const [overTime, byReason, byKey, byAddress, last] = await Promise.all([
        sums(`${partOf(range, Date.now()).by},reason`),
        sums("reason"),
        sums("reason,key"),
        withoutKey ? sums("reason,address", { key: NO_KEY }) : none,
        // A key that was refused again later has its example there.
        ask<RefusalSums>("/api/refusals", { ...since, by: "reason" }, abort),
      ]);
      return { overTime, byReason, byKey, byAddress, examples: last.examples } satisfies Data;
    },
  );
  useEffect(() => {
    if (range.toMs !== undefined) return;
    const turn = setInterval(() => document.hidden || found.reload(), TURN_MS);
    return () => clearInterval(turn);
  }, [range.toMs === undefined]);
  return (
    <>
      <PageHead title="Refused">
        <SavedViews />
        <CopyLink />
        <RangeChoice range={range} />
      </PageHead>
      <p class="muted note">
        Requests that ended before a call began. They have no receipt.{" "}
        {mayReadCalls() && (
          <>
            What a provider refused is a call: see the{" "}
            <a href={callsWith({ outcome: "failed" }, range.name ?? "24h")}>failed calls</a>.{" "}
          </>
        )}
        {range.fromMs < Date.now() - KEPT_MS - 60_000 && "Their counts are kept for seven days."}
      </p>
      <Filters />
      {range.toMs === undefined && <OutOfDate atMs={found.atMs} error={found.error} reload={found.reload} />}
      <Loaded of={found}>
        {(data) =>
          data.byReason.total.requests === 0 ? (
            Object.keys(filter).length > 0 ? (
              <Empty title="Nothing refused matches this filter">
                <p>
                  <button
                    type="button"
                    onClick={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
                  >
                    Remove the filter
                  </button>
                </p>
              </Empty>
            ) : (
              <Empty title="Nothing refused in this time range">
                <p>
                  Requests with a wrong key, over a limit or a budget, or for an unknown model appear here, with their
                  key or address and what to do about them.
                </p>
              </Empty>
            )
          ) : (
            <Found data={data} range={range} />
          )
        }
      </Loaded>
    </>
  );
}
