import { ask } from "../api/client.ts";
import type { Page, ReceiptItem } from "../api/types.ts";
import { full } from "../format/time.ts";
import { type CallFilter, receiptQuery, writeFilter } from "../state/filter.ts";
import { nameOfKey } from "../state/names.ts";
import { type Range, rangeQuery } from "../state/range.ts";
import { setQuery } from "../state/router.ts";
import { Empty, Waiting } from "./basics.tsx";
import { useData } from "./use-data.ts";

type Name = keyof CallFilter;

const namesOf = (filter: CallFilter): Name[] => (Object.keys(filter) as Name[]).filter((name) => name !== "unknown");

interface Found {
  /** The filters without which there are calls. */
  causes: Name[];
  /** Whether the range has calls at all. */
  hasCalls: boolean;
}

async function hasCalls(filter: CallFilter, range: Range, abort: AbortSignal): Promise<boolean> {
  const query = { ...receiptQuery(filter), ...rangeQuery(range), limit: 1 };
  return (await ask<Page<ReceiptItem>>("/api/receipts", query, abort)).data.length > 0;
}

/** Leaves out one filter after the other. */
async function findCauses(filter: CallFilter, range: Range, abort: AbortSignal): Promise<Found> {
  // Each search in bodies is recorded, so it is not repeated to find out why it found nothing.
  const names = filter.body === undefined ? namesOf(filter) : (["body"] as const);
  const [any, ...without] = await Promise.all([
    hasCalls({}, range, abort),
    ...names.map((name) => hasCalls({ ...filter, [name]: undefined }, range, abort)),
  ]);
  return { causes: names.filter((_name, at) => without[at]), hasCalls: any };
}

const shown = (name: Name, filter: CallFilter): string => {
  const value = filter[name] ?? "";
  if (name === "text") return `"${value}"`;
  if (name === "cost" || name === "ms") return `${name}>${value}`;
  return `${name}:${name === "key" ? nameOfKey(value) : value}`;
};

interface NothingFoundProps {
  filter: CallFilter;
  range: Range;
  /** A search is bounded: it may find something further back. */
  page: Page<ReceiptItem>;
}

/** Which filter finds nothing, and a button that removes it. */
export function NothingFound({ filter, range, page }: NothingFoundProps) {
  const key = JSON.stringify([filter, range.name ?? [range.fromMs, range.toMs]]);
  const { data, error } = useData(key, (abort) => findCauses(filter, range, abort));
  const names = namesOf(filter);
  const widen = (
    <p>
      <button
        type="button"
        onClick={() => setQuery({ range: "30d", from: undefined, to: undefined, after: undefined })}
      >
        Search the last 30 days
      </button>
    </p>
  );
  if (data === undefined && error === undefined) return <Waiting rows={2} />;
  if (data?.hasCalls === false)
    return (
      <Empty title="No calls in this time range">
        <p>No filter is the cause: the range itself has no calls.</p>
        {widen}
      </Empty>
    );
  const causes = data?.causes ?? [];
  const until = page.searched_back_to;
  const remove = causes.length > 0 ? causes : names;
  return (
    <Empty title={until ? `No matching calls back to ${full(until)}` : "No matching calls"}>
      {page.next !== null && (
        <p>
          <button
            type="button"
            class="main"
            onClick={() => setQuery({ after: page.next ?? undefined, live: undefined })}
          >
            Search further back
          </button>
        </p>
      )}
      <p>
        {causes.length === 1
          ? "This filter finds nothing. Without it there are calls:"
          : causes.length > 1
            ? "These filters find nothing together. There are calls without one of them:"
            : "There are calls in this range, but none with even one of these filters less:"}
      </p>
      <ul class="chips" aria-label="Filters that find nothing">
        {remove.map((name) => (
          <li key={name}>
            <button
              type="button"
              onClick={() => setQuery({ q: writeFilter({ ...filter, [name]: undefined }), after: undefined })}
            >
              Remove {shown(name, filter)}
            </button>
          </li>
        ))}
      </ul>
      {widen}
    </Empty>
  );
}
