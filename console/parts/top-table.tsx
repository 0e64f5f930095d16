import type { Overview } from "../api/types.ts";
import { money } from "../format/money.ts";
import { percent, short } from "../format/numbers.ts";
import { nameOfKey } from "../state/names.ts";
import { callsWith } from "./filter-bar.tsx";

interface TopTableProps {
  title: string;
  name: "model" | "provider" | "key";
  groups: Overview["top"]["models"];
  range: string;
}

/** The groups with the highest cost. Each row links to its calls. */
export function TopTable({ title, name, groups, range }: TopTableProps) {
  const most = Math.max(1, ...groups.map(({ calls }) => calls));
  return (
    <section class="panel">
      <table class="top">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Failed
            </th>
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.name}>
              <th scope="row">
                <a href={callsWith({ [name]: group.name }, range)}>
                  {name === "key" ? nameOfKey(group.name) : group.name || "(none)"}
                </a>
                <meter class="bar" min={0} max={most} value={group.calls} aria-hidden="true" />
              </th>
              <td class="number">{short(group.calls)}</td>
              <td class={group.failures > 0 ? "number failed" : "number muted"}>
                {percent(group.failures, group.calls)}
              </td>
              <td class="number">{money(group.cost_nano_usd)}</td>
            </tr>
          ))}
          {groups.length === 0 && (
            <tr>
              <td colSpan={4} class="muted">
                No data in this time range.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}
