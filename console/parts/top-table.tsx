import type { Overview } from "../api/types.ts";
import { money } from "../format/money.ts";
import { percent, short } from "../format/numbers.ts";
import { nameOfKey } from "../state/names.ts";
import { callsWith } from "./filter-bar.tsx";

type Group = Overview["top"]["models"][number];

interface TopTableProps {
  title: string;
  name: "model" | "provider" | "key";
  groups: readonly Group[];
  range: string;
}

/** The largest groups by cost; by calls if none of them cost anything. */
export function topOf(groups: readonly Group[]): { by: "cost" | "calls"; sizeOf: (group: Group) => number } {
  const by = groups.some(({ cost_nano_usd }) => cost_nano_usd > 0) ? "cost" : "calls";
  return { by, sizeOf: (group) => (by === "cost" ? group.cost_nano_usd : group.calls) };
}

const PAGES = { model: "models", provider: "providers", key: "keys" } as const;

/** The page of a group, with the range that its figures are of. */
const pageOf = (name: TopTableProps["name"], group: string, range: string): string =>
  `/${PAGES[name]}/${group.split("/").map(encodeURIComponent).join("/")}?${new URLSearchParams({ range })}`;

/** The order, the bars and the title are of one figure. Names lead to their pages, figures to their calls. */
export function TopTable({ title, name, groups, range }: TopTableProps) {
  const { by, sizeOf } = topOf(groups);
  const sorted = groups.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  const most = Math.max(1, ...groups.map(sizeOf));
  return (
    <section class="panel">
      <table class="top-groups">
        <caption class="unseen">
          {title} by {by}
        </caption>
        <thead>
          <tr>
            <th scope="col">
              {title} <span class="muted">by {by}</span>
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Failed
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((group) => (
            <tr key={group.name}>
              <th scope="row">
                {group.name === "" ? (
                  "(none)"
                ) : (
                  <a href={pageOf(name, group.name, range)}>{name === "key" ? nameOfKey(group.name) : group.name}</a>
                )}
                <meter class="bar" min={0} max={most} value={sizeOf(group)} aria-hidden="true" />
              </th>
              <td class="number">{money(group.cost_nano_usd)}</td>
              <td class="number">
                <a href={callsWith({ [name]: group.name }, range)}>{short(group.calls)}</a>
              </td>
              <td class={group.failures > 0 ? "number failed" : "number muted"}>
                {group.failures > 0 ? (
                  <a href={callsWith({ [name]: group.name, outcome: "failed" }, range)}>
                    {percent(group.failures, group.calls)}
                  </a>
                ) : (
                  percent(group.failures, group.calls)
                )}
              </td>
            </tr>
          ))}
          {groups.length === 0 && (
            <tr>
              <td colSpan={4} class="muted">
                No calls in this time range.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}
