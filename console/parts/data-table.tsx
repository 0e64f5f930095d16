import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { whole } from "../format/numbers.ts";
import { goTo, place, setQuery } from "../state/router.ts";
import { Icon } from "./icon.tsx";

export interface Column<Row> {
  id: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Figures are right-aligned; `acts` are buttons. */
  kind?: "text" | "number" | "acts";
  muted?: boolean;
  /** What rows are sorted by in the browser, for lists that are complete. Unknown values come last. */
  sortBy?: (row: Row) => number | string | null;
  /** The server sorts by this column, under this name. */
  sortedAs?: string;
  /** On a phone: beside the name, as a line with its label, or not at all. Default: a line. */
  onPhone?: "lead" | "line" | "hidden";
  /** Left out of tables that are narrower than so many pixels, so that the others fit. On a phone, `onPhone` decides. */
  room?: 900 | 1100;
}

interface DataTableProps<Row> {
  /** The name of the table, for screen readers. */
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The first names the row. It and the last one stay in view. */
  columns: readonly Column<Row>[];
  /** Where a click on a row leads. */
  addressOf?: (row: Row) => string | undefined;
  /** One more row for each: details of an open row. */
  inner?: (row: Row) => ComponentChildren;
  foot?: ComponentChildren;
  class?: string;
  /** The key of the row that is chosen with the keyboard. */
  chosen?: string | undefined;
}

export type SortOrder = readonly [id: string, direction: "up" | "down"];

/** `sort=cost` is the largest first; `sort=-name` the smallest first. */
export const readSort = (query: URLSearchParams): SortOrder | undefined => {
  const written = query.get("sort");
  if (written === null || written === "") return undefined;
  return written.startsWith("-") ? [written.slice(1), "up"] : [written, "down"];
};

const writeSort = ([id, direction]: SortOrder): string => (direction === "up" ? `-${id}` : id);

/** The rows in the order of a column. Rows without a value come last in both directions. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: SortOrder | undefined,
): readonly Row[] {
  const by = columns.find(({ id }) => id === order?.[0])?.sortBy;
  if (by === undefined || order === undefined) return rows;
  const sign = order[1] === "up" ? 1 : -1;
  return rows.toSorted((one, other) => {
    const [left, right] = [by(one), by(other)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === "string" || typeof right === "string") return sign * String(left).localeCompare(String(right));
    return sign * (left - right);
  });
}

/** Longer tables are drawn as far as they are in view. */
const MOST_DRAWN = 100;
/** As many as the largest usual window shows, until it is known what is in view. */
const FIRST_DRAWN = 50;
/** Rows drawn above and below the view. */
const MARGIN = 12;
const ROW_HEIGHT = 36;

interface Window {
  from: number;
  to: number;
}

/** The rows in view, for a table of many rows of one height. */
function useWindow(count: number, body: { readonly current: HTMLElement | null }): Window {
  const [shown, setShown] = useState<Window>({ from: 0, to: FIRST_DRAWN });
  const isLong = count > MOST_DRAWN;
  useEffect(() => {
    if (!isLong) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const from = Math.max(0, Math.floor(-top / ROW_HEIGHT) - MARGIN);
      const to = Math.min(count, from + Math.ceil(innerHeight / ROW_HEIGHT) + 2 * MARGIN);
      setShown((before) => (before.from === from && before.to === to ? before : { from, to }));
    };
    const later = () => {
      frame ||= requestAnimationFrame(look);
    };
    look();
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", later);
      removeEventListener("resize", later);
    };
  }, [isLong, count]);
  return isLong ? shown : { from: 0, to: count };
}

const joined = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(" ");

const roomOf = <Row,>({ room }: Column<Row>) => room !== undefined && `room-${room}`;

/** The class of the cells of a column. */
export const classOf = <Row,>(column: Column<Row>): string => {
  const { kind, muted, onPhone = "line" } = column;
  return joined(kind !== "text" && kind, muted && "muted", `phone-${onPhone}`, roomOf(column));
};

function Head<Row>({ column, order }: { column: Column<Row>; order: SortOrder | undefined }) {
  const { id, title, kind, sortBy, sortedAs } = column;
  const className = joined(kind === "number" && "number", roomOf(column)) || undefined;
  if (sortBy === undefined && sortedAs === undefined) {
    return (
      <th scope="col" class={className} data-column={id}>
        {kind === "acts" ? <span class="unseen">{title}</span> : title}
      </th>
    );
  }
  const name = sortedAs ?? id;
  const isHere = order?.[0] === name;
  const direction = isHere ? order[1] : undefined;
  const first = kind === "number" ? "down" : "up";
  const next: SortOrder = [name, isHere ? (direction === "up" ? "down" : "up") : first];
  return (
    <th
      scope="col"
      class={className}
      data-column={id}
      aria-sort={direction === undefined ? undefined : direction === "up" ? "ascending" : "descending"}
    >
      <button type="button" class="sort" onClick={() => setQuery({ sort: writeSort(next), after: undefined }, true)}>
        {title}
        {direction !== undefined && <Icon name={direction === "up" ? "up" : "down"} size={12} />}
      </button>
    </th>
  );
}

const isControl = (event: MouseEvent): boolean =>
  (event.target as Element).closest("a, button, input, select, label, summary") !== null;

/** A table as all pages have it: names and main figures stay in view, heads sort, long lists stay fast, rows become blocks on a phone. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, keyOf, columns, addressOf, inner, foot, chosen } = props;
  const order = readSort(place.value.query);
  const body = useRef<HTMLTableSectionElement>(null);
  const sorted = sortRows(rows, columns, order);
  const { from, to } = useWindow(sorted.length, body);
  const drawn = sorted.slice(from, to);
  return (
    <section class="wide" tabIndex={0} aria-label={`${label} table`}>
      <table class={joined("data", props.class)} aria-rowcount={sorted.length + 1}>
        <caption class="unseen">
          {label} ({whole(sorted.length)})
        </caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} order={order} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {from > 0 && <tr class="space" style={{ height: `${from * ROW_HEIGHT}px` }} />}
          {drawn.map((row, at) => {
            const key = keyOf(row);
            const address = addressOf?.(row);
            return (
              <Fragment key={key}>
                <tr
                  aria-rowindex={from + at + 2}
                  class={joined(key === chosen && "chosen", address !== undefined && "opens") || undefined}
                  onClick={(event) => address !== undefined && !isControl(event) && goTo(address)}
                >
                  {columns.map((column, index) =>
                    index === 0 ? (
                      <th
                        key={column.id}
                        scope="row"
                        class={classOf({ ...column, onPhone: "lead" })}
                        data-column={column.id}
                      >
                        {column.cell(row)}
                      </th>
                    ) : (
                      <td key={column.id} class={classOf(column)} data-label={column.title} data-column={column.id}>
                        {column.cell(row)}
                      </td>
                    ),
                  )}
                </tr>
                {inner?.(row)}
              </Fragment>
            );
          })}
          {to < sorted.length && <tr class="space" style={{ height: `${(sorted.length - to) * ROW_HEIGHT}px` }} />}
        </tbody>
        {foot !== undefined && <tfoot>{foot}</tfoot>}
      </table>
    </section>
  );
}
