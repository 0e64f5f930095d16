import { useEffect, useRef, useState } from "preact/hooks";
import type { ReceiptItem } from "../api/types.ts";
import { whole } from "../format/numbers.ts";
import { full, when } from "../format/time.ts";
import type { CallFilter } from "../state/filter.ts";
import { writeFilter } from "../state/filter.ts";
import { goTo, setQuery } from "../state/router.ts";
import { CALL_COLUMNS, shownColumns } from "./call-columns.tsx";

function Row({ call, filter, isChosen }: { call: ReceiptItem; filter: CallFilter; isChosen: boolean }) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  const narrow = (more: CallFilter) => setQuery({ q: writeFilter({ ...filter, ...more }), after: undefined });
  return (
    <tr
      ref={row}
      class={isChosen ? "chosen" : undefined}
      onClick={(event) => opens(event) && goTo(`/calls/${call.id}`)}
    >
      <td class="time" title={full(call.created_at)}>
        <a href={`/calls/${call.id}`}>{when(call.created_at)}</a>
      </td>
      {shownColumns().map((name) => (
        <td key={name} class={CALL_COLUMNS[name].class}>
          {CALL_COLUMNS[name].cell(call, narrow)}
        </td>
      ))}
    </tr>
  );
}

const opens = (event: MouseEvent): boolean => !(event.target as Element).closest("a, button");

const isTyping = (event: KeyboardEvent): boolean =>
  event.target instanceof HTMLElement && event.target.closest("input, textarea, select, button, dialog") !== null;

/** `j` and `k` move the selection, Enter opens it. */
export function CallTable({ calls, filter }: { calls: readonly ReceiptItem[]; filter: CallFilter }) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  // Keys can arrive faster than the page renders, so the selection is also kept in a ref.
  const current = useRef<string | undefined>(undefined);
  useEffect(() => {
    const choose = (id: string | undefined) => {
      current.current = id;
      setChosen(id);
    };
    const move = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      const at = calls.findIndex(({ id }) => id === current.current);
      if (event.key === "j") choose(calls[Math.min(at + 1, calls.length - 1)]?.id);
      else if (event.key === "k") choose(calls[Math.max(at - 1, 0)]?.id);
      else if (event.key === "Enter" && current.current !== undefined) goTo(`/calls/${current.current}`);
      else if (event.key === "Escape") choose(undefined);
    };
    addEventListener("keydown", move);
    return () => removeEventListener("keydown", move);
  }, [calls]);
  return (
    <section class="wide" tabIndex={0} aria-label="Calls table">
      <table class="calls">
        <caption class="unseen">Calls, newest first ({whole(calls.length)} on this page)</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {shownColumns().map((name) => (
              <th key={name} scope="col" class={CALL_COLUMNS[name].headClass}>
                {CALL_COLUMNS[name].title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <Row key={call.id} call={call} filter={filter} isChosen={call.id === chosen} />
          ))}
        </tbody>
      </table>
    </section>
  );
}
