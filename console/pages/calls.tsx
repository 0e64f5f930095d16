import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { Page, ReceiptItem } from "../api/types.ts";
import { Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { CallTable } from "../parts/call-table.tsx";
import { CallVolume } from "../parts/call-volume.tsx";
import { ColumnChoice } from "../parts/column-choice.tsx";
import { currentFilter, FilterBar } from "../parts/filter-bar.tsx";
import { FirstCall } from "../parts/first-call.tsx";
import { Pager } from "../parts/pager.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { listenTo } from "../state/events.ts";
import { receiptQuery } from "../state/filter.ts";
import { rangeQuery, readRange } from "../state/range.ts";
import { place, setQuery } from "../state/router.ts";

const PAGE_SIZE = 50;
/** The shortest interval between two live refreshes. */
const LIVE_MS = 1_000;

export function Calls() {
  const { query } = place.value;
  const filter = currentFilter();
  const range = readRange(query, Date.now());
  const after = query.get("after") ?? undefined;
  const live = query.get("live") === "1" && after === undefined && range.toMs === undefined;
  const narrowed = { ...receiptQuery(filter), ...rangeQuery(range) };
  const key = [query.get("q"), query.get("range"), query.get("from"), query.get("to"), after].join("|");
  const { data, error, loading, reload } = useData(key, (abort) =>
    ask<Page<ReceiptItem>>("/api/receipts", { ...narrowed, limit: PAGE_SIZE, after }, abort),
  );
  const held = useRef(false);
  const [waiting, setWaiting] = useState(0);
  const refresh = useThrottled(() => {
    setWaiting(0);
    reload();
  }, LIVE_MS);
  useEffect(() => {
    if (!live) return;
    return listenTo(({ type }) => {
      if (type === "lagged") refresh();
      if (type !== "call.ended") return;
      // Rows must not move while the pointer is over them.
      if (held.current) setWaiting((count) => count + 1);
      else refresh();
    });
  }, [live, refresh]);
  return (
    <>
      <PageHead title="Calls">
        <button
          type="button"
          aria-pressed={live}
          disabled={after !== undefined || range.toMs !== undefined}
          onClick={() => setQuery({ live: live ? undefined : "1" }, true)}
        >
          <i class={live ? "dot live" : "dot"} aria-hidden="true" /> Live
        </button>
        <ColumnChoice />
        <RangeChoice range={range} />
      </PageHead>
      <FilterBar label="Filter calls" />
      <CallVolume filter={filter} range={range} />
      {error && <Problem error={error} retry={reload} />}
      {waiting > 0 && (
        <button type="button" class="chip" onClick={refresh}>
          Show {waiting} new
        </button>
      )}
      {data === undefined ? (
        !error && <Waiting rows={12} />
      ) : data.data.length === 0 && data.next === null ? (
        <Nothing isNarrowed={Object.keys(filter).length > 0 || after !== undefined} />
      ) : (
        <section
          aria-label="Calls"
          aria-busy={loading}
          onMouseEnter={() => {
            held.current = true;
          }}
          onMouseLeave={() => {
            held.current = false;
            if (waiting > 0) refresh();
          }}
        >
          <CallTable calls={data.data} filter={filter} />
          <Pager page={data} of="calls" />
        </section>
      )}
    </>
  );
}

const Nothing = ({ isNarrowed }: { isNarrowed: boolean }) =>
  isNarrowed ? (
    <Empty title="No matching calls">
      <p>
        Widen the time range or <a href="/calls">clear the filter</a>. You can filter by <code>model:</code>{" "}
        <code>provider:</code> <code>key:</code> <code>project:</code> <code>outcome:</code> <code>dialect:</code>{" "}
        <code>lane:</code> <code>stream:</code> <code>tag:</code> <code>batch:</code> <code>cost&gt;</code>{" "}
        <code>ms&gt;</code>. Any other text is matched against IDs and names.
      </p>
    </Empty>
  ) : (
    <Empty title="No calls in this time range">
      <FirstCall />
    </Empty>
  );
