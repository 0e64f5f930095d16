import { useEffect, useRef, useState } from "preact/hooks";
import type { ReceiptItem } from "../api/types.ts";
import { type CallFilter, writeFilter } from "../state/filter.ts";
import { leaveList, returnedTo } from "../state/list-place.ts";
import { goTo, setQuery } from "../state/router.ts";
import { callColumns } from "./call-columns.tsx";
import { DataTable } from "./data-table.tsx";

const isTyping = (event: KeyboardEvent): boolean =>
  event.target instanceof HTMLElement && event.target.closest("input, textarea, select, button, dialog") !== null;

const here = (): string => location.pathname + location.search;

/** `j` and `k` move the selection, Enter opens it. */
export function CallTable({ calls, filter }: { calls: readonly ReceiptItem[]; filter: CallFilter }) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  // Keys can arrive faster than the page renders, so the selection is also kept in a ref.
  const current = useRef<string | undefined>(undefined);
  const host = useRef<HTMLDivElement>(null);
  const choose = (id: string | undefined) => {
    current.current = id;
    setChosen(id);
  };
  useEffect(() => {
    const place = returnedTo(here());
    if (place === undefined) return;
    choose(place.opened);
    scrollTo(0, place.top);
  }, []);
  useEffect(() => {
    if (chosen !== undefined) host.current?.querySelector("tr.chosen")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  useEffect(() => {
    const open = (id: string) => {
      leaveList({ address: here(), top: scrollY, opened: id });
      goTo(`/calls/${id}`);
    };
    const move = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      const at = calls.findIndex(({ id }) => id === current.current);
      if (event.key === "j") choose(calls[Math.min(at + 1, calls.length - 1)]?.id);
      else if (event.key === "k") choose(calls[Math.max(at - 1, 0)]?.id);
      else if (event.key === "Enter" && current.current !== undefined) open(current.current);
      else if (event.key === "Escape") choose(undefined);
    };
    addEventListener("keydown", move);
    return () => removeEventListener("keydown", move);
  }, [calls]);
  const leave = (event: MouseEvent) => {
    const row = (event.target as Element).closest("tbody tr");
    const opened = row?.querySelector("a.time")?.getAttribute("href")?.slice("/calls/".length);
    if (opened !== undefined) leaveList({ address: here(), top: scrollY, opened });
  };
  const narrow = (more: CallFilter) => setQuery({ q: writeFilter({ ...filter, ...more }), after: undefined });
  return (
    <div ref={host} class="calls" onClickCapture={leave}>
      <DataTable
        label="Calls, newest first"
        class="calls"
        rows={calls}
        keyOf={({ id }) => id}
        columns={callColumns(narrow)}
        addressOf={({ id }) => `/calls/${id}`}
        chosen={chosen}
      />
    </div>
  );
}
