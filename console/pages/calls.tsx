import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { Page, ReceiptItem } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { dated, full } from "../format/time.ts";
import { Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { CallTable } from "../parts/call-table.tsx";
import { CallVolume } from "../parts/call-volume.tsx";
import { ColumnChoice } from "../parts/column-choice.tsx";
import { CopyLink } from "../parts/copy-link.tsx";
import { currentFilter, FilterBar } from "../parts/filter-bar.tsx";
import { FirstCall } from "../parts/first-call.tsx";
import { NothingFound } from "../parts/nothing-found.tsx";
import { Pager } from "../parts/pager.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { SavedViews } from "../parts/saved-views.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { type ConsoleEvent, listenTo } from "../state/events.ts";
import { type CallFilter, receiptQuery } from "../state/filter.ts";
import { rangeQuery, readRange } from "../state/range.ts";
import { place, setQuery } from "../state/router.ts";
import { shownZone } from "../state/zone.ts";

const PAGE_SIZE = 100;
/** The shortest interval between two live refreshes. */
const LIVE_MS = 1_000;

/** The last list, which is shown at once when the reader comes back to it. */
let kept: { key: string; data: Page<ReceiptItem> } | undefined;

/** Whether a call that has ended may be in the list, as far as its event tells. */
export function mayMatch(event: ConsoleEvent, { model, provider, key, outcome }: CallFilter): boolean {
  const isFailed = event.outcome !== "ok" && event.outcome !== "client_gone";
  if (outcome === "failed" ? !isFailed : outcome !== undefined && outcome !== event.outcome) return false;
  const pairs = [
    [model, event.model],
    [provider, event.provider],
    [key, event.key],
  ];
  return pairs.every(([wanted, is]) => wanted === undefined || wanted === is);
}

export function Calls() {
  const { query } = place.value;
  const filter = currentFilter();
  const range = readRange(query, Date.now());
  const after = query.get("after") ?? undefined;
  // Each search in bodies is in the audit log, so it does not repeat itself.
  const mayBeLive = after === undefined && range.toMs === undefined && filter.body === undefined;
  const live = mayBeLive && query.get("live") === "1";
  const narrowed = { ...receiptQuery(filter), ...rangeQuery(range) };
  const key = [query.get("q"), query.get("range"), query.get("from"), query.get("to"), after].join("|");
  const loaded = useData(key, (abort) =>
    ask<Page<ReceiptItem>>("/api/receipts", { ...narrowed, limit: PAGE_SIZE, after }, abort),
  );
  const { error, loading, reload } = loaded;
  if (loaded.data !== undefined) kept = { key, data: loaded.data };
  const data = loaded.data ?? (error === undefined && kept?.key === key ? kept.data : undefined);
  const held = useRef(false);
  const [waiting, setWaiting] = useState(0);
  const refresh = useThrottled(() => {
    setWaiting(0);
    reload();
  }, LIVE_MS);
  const wanted = useRef(filter);
  wanted.current = filter;
  useEffect(() => {
    if (!live) return;
    setWaiting(0);
    return listenTo((event) => {
      if (event.type === "lagged") refresh();
      if (event.type !== "call.ended" || !mayMatch(event, wanted.current)) return;
      // Rows must not move while the pointer is over them.
      if (held.current) setWaiting((count) => count + 1);
      else refresh();
    });
  }, [live]);
  const isNarrowed = Object.keys(filter).some((name) => name !== "unknown");
  return (
    <>
      <PageHead title="Calls">
        <button
          type="button"
          aria-pressed={live}
          disabled={!mayBeLive}
          onClick={() => setQuery({ live: live ? undefined : "1" }, true)}
        >
          <i class={live ? "dot live" : "dot"} aria-hidden="true" /> Live
        </button>
        <ColumnChoice />
        <SavedViews />
        <CopyLink />
        <RangeChoice range={range} />
      </PageHead>
      <FilterBar label="Filter calls" />
      <CallVolume filter={filter} range={range} />
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting rows={12} />
      ) : (
        <>
          <p class="list-note muted small">
            {range.toMs === undefined
              ? `Since ${dated(range.fromMs)}`
              : `${dated(range.fromMs)} – ${dated(range.toMs)}`}{" "}
            · {shownZone}
            {filter.body !== undefined && ` · ${searchedWords(data)}`}
            {waiting > 0 && (
              <button type="button" class="chip new" onClick={refresh}>
                {waiting} new
              </button>
            )}
          </p>
          {data.data.length === 0 ? (
            isNarrowed || data.next !== null ? (
              <NothingFound filter={filter} range={range} page={data} />
            ) : (
              <Empty title="No calls in this time range">
                <FirstCall />
              </Empty>
            )
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
      )}
    </>
  );
}

/** How far a search in bodies went, because each is opened and read. */
function searchedWords({ bodies, searched_back_to: until }: Page<ReceiptItem>): string {
  const { searched = 0, unreadable = 0 } = bodies ?? {};
  if (searched + unreadable === 0) return "no bodies are kept in this range: capture is off, or they have expired";
  const lost = unreadable === 0 ? "" : `, ${counted(unreadable, "capture")} could not be read`;
  const bound = until === null || until === undefined ? "" : `, back to ${full(until)}; Older continues`;
  return `searched the captured bodies of ${counted(searched, "call")}${bound}${lost}`;
}
