import { useEffect, useRef, useState } from "preact/hooks";
import type { ReceiptItem } from "../api/types.ts";
import { usd } from "../format/money.ts";
import { decimal, duration, known, speed, whole } from "../format/numbers.ts";
import { full, when } from "../format/time.ts";
import type { CallFilter } from "../state/filter.ts";
import { writeFilter } from "../state/filter.ts";
import { nameOfKey } from "../state/names.ts";
import { goTo, setQuery } from "../state/router.ts";
import { Outcome } from "./basics.tsx";

const sumOf = (...parts: (number | null)[]): number | null =>
  parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);

/** What is worth a word about how a call was served. */
function remarks({ offers, fields, hedged, continued, adjusts, stream }: ReceiptItem): string[] {
  const tried = offers.length > 1 ? [`${offers.length} offers`] : [];
  return [
    ...(adjusts === null ? [] : ["correction"]),
    ...tried,
    ...(hedged ? ["hedged"] : []),
    ...(continued.length > 0 ? ["continued"] : []),
    ...(fields.length > 0 ? [`${fields.length} field${fields.length === 1 ? "" : "s"}`] : []),
    ...(stream ? [] : ["whole"]),
  ];
}

function Row({ call, filter, isChosen }: { call: ReceiptItem; filter: CallFilter; isChosen: boolean }) {
  const { usage } = call;
  const out = sumOf(usage.output, usage.reasoning);
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
      <td>
        <Outcome outcome={call.outcome} />
      </td>
      <td class="name">
        <button type="button" class="cell" title="Only this model" onClick={() => narrow({ model: call.model })}>
          {call.model}
        </button>
      </td>
      <td class="name muted">{call.provider}</td>
      <td class="name">
        <button type="button" class="cell" title="Only this key" onClick={() => narrow({ key: call.key })}>
          {nameOfKey(call.key)}
        </button>
      </td>
      <td class="number">{known(call.first_content_ms, duration)}</td>
      <td class="number">{duration(call.total_ms)}</td>
      <td class="number">{known(sumOf(usage.input, usage.cache_write_5m, usage.cache_write_1h))}</td>
      <td class="number muted">{known(usage.cache_read)}</td>
      <td class="number">{known(out)}</td>
      <td class="number muted">{known(speed(out, call.first_content_ms, call.total_ms), decimal)}</td>
      <td class="number">{usd(call.cost_nano_usd, 6)}</td>
      <td class="muted">
        {call.dialect.client}
        {call.lane === "translated" && ` → ${call.dialect.upstream}`}
      </td>
      <td class="muted remarks">{remarks(call).join(", ")}</td>
    </tr>
  );
}

const opens = (event: MouseEvent): boolean => !(event.target as Element).closest("a, button");

const isTyping = (event: KeyboardEvent): boolean =>
  event.target instanceof HTMLElement && event.target.closest("input, textarea, select, button, dialog") !== null;

/** `j` and `k` move, Enter opens. */
export function CallTable({ calls, filter }: { calls: readonly ReceiptItem[]; filter: CallFilter }) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  // Keys may come faster than the page is drawn: what is chosen is known at once.
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
    <section class="wide" tabIndex={0} aria-label="Table of calls">
      <table class="calls">
        <caption class="unseen">Calls, newest first: {whole(calls.length)} on this page</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Outcome</th>
            <th scope="col">Model</th>
            <th scope="col">Provider</th>
            <th scope="col">Key</th>
            <th scope="col" class="number">
              First content
            </th>
            <th scope="col" class="number">
              Total
            </th>
            <th scope="col" class="number">
              In
            </th>
            <th scope="col" class="number">
              Cached
            </th>
            <th scope="col" class="number">
              Out
            </th>
            <th scope="col" class="number">
              Tok/s
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col">Dialect</th>
            <th scope="col">Remarks</th>
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
