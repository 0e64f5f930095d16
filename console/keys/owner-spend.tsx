import type { ComponentChildren } from "preact";
import { ask, session } from "../api/client.ts";
import type { UsageRow } from "../api/types.ts";
import { money } from "../format/money.ts";
import { percent, short, whole } from "../format/numbers.ts";
import { words } from "../parts/basics.tsx";
import { Change } from "../parts/change.tsx";
import { Chart } from "../parts/chart.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useData } from "../parts/use-data.ts";
import type { CallFilter } from "../state/filter.ts";
import { type Range, rangeQuery } from "../state/range.ts";
import { place } from "../state/router.ts";
import { stackOf } from "../state/usage.ts";

/** Whose calls: those of a key or of a project. */
export type Owner = { key: string } | { project: string };

interface Sums {
  data: UsageRow[];
  total: Pick<UsageRow, "calls" | "failures" | "cost_nano_usd">;
}

interface Refusals {
  data: { group: string; requests: number }[];
  total: { requests: number };
}

interface Shown {
  times: Sums;
  before: Sums["total"];
  outcomes: Sums;
  models: Sums;
  /** Of a project: its keys. */
  keys: Sums | undefined;
  refusals: Refusals;
  everyMs: number;
}

const HOUR_MS = 3_600_000;
const HOURLY_MS = 49 * HOUR_MS;
const MOST_TOPS = 6;

async function load(owner: Owner, range: Range, abort: AbortSignal): Promise<Shown> {
  const toMs = range.toMs ?? Date.now();
  const lengthMs = toMs - range.fromMs;
  const sums = (by: string, of: Range = range) =>
    ask<Sums>("/api/usage", { ...owner, ...rangeQuery(of), by, zone: "UTC" }, abort);
  const isHourly = lengthMs <= HOURLY_MS;
  const [times, before, outcomes, models, keys, refusals] = await Promise.all([
    sums(isHourly ? "hour" : "day"),
    sums("outcome", { name: undefined, fromMs: range.fromMs - lengthMs, toMs: range.fromMs }),
    sums("outcome"),
    sums("model"),
    "key" in owner ? undefined : sums("key"),
    ask<Refusals>("/api/refusals", { ...owner, ...rangeQuery(range), by: "reason" }, abort),
  ]);
  return {
    times,
    before: before.total,
    outcomes,
    models,
    keys,
    refusals,
    everyMs: isHourly ? HOUR_MS : 24 * HOUR_MS,
  };
}

interface FigureProps {
  name: string;
  href: string;
  children: ComponentChildren;
  note: ComponentChildren;
}

const Figure = ({ name, href, children, note }: FigureProps) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd>
      <strong>
        <a href={href}>{children}</a>
      </strong>
      <span class="muted">{note}</span>
    </dd>
  </div>
);

interface TopProps {
  title: string;
  rows: readonly UsageRow[];
  hrefOf: (group: string) => string;
  nameOf?: (group: string) => string;
  empty: string;
}

function Top({ title, rows, hrefOf, nameOf = (group) => group, empty }: TopProps) {
  const most = Math.max(1, ...rows.map(({ cost_nano_usd }) => cost_nano_usd));
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
          {rows.slice(0, MOST_TOPS).map(({ group, calls, failures, cost_nano_usd }) => (
            <tr key={group}>
              <th scope="row">
                <a href={hrefOf(group)} title={nameOf(group)}>
                  {nameOf(group) || "(none)"}
                </a>
                <meter class="bar" min={0} max={most} value={cost_nano_usd} aria-hidden="true" />
              </th>
              <td class="number">{short(calls)}</td>
              <td class={failures > 0 ? "number failed" : "number muted"}>{percent(failures, calls)}</td>
              <td class="number">{money(cost_nano_usd)}</td>
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={4} class="muted">
                {empty}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

interface EndUsersProps {
  keyId: string;
  range: Range;
  /** Changes with the range. */
  question: string;
}

/** Asked for when the rest is shown: sums do not know end users, so every receipt of the range is read. */
function EndUsers({ keyId, range, question }: EndUsersProps) {
  const loaded = useData(`${keyId} ${question}`, (abort) =>
    ask<Sums>("/api/usage", { key: keyId, ...rangeQuery(range), by: "end_user", zone: "UTC" }, abort),
  );
  if (loaded.data === undefined)
    return (
      <section class="panel">
        <h3>End users</h3>
        <Loaded of={loaded} rows={3}>
          {() => null}
        </Loaded>
      </section>
    );
  return (
    <Top
      title="End users"
      rows={loaded.data.data}
      hrefOf={(user) => `/end-users?text=${encodeURIComponent(user)}`}
      empty="No call named its end user in this range."
    />
  );
}

interface WhyProps {
  outcomes: readonly UsageRow[];
  refusals: Refusals;
  hrefOf: (outcome: string) => string;
  refusedHref: string;
}

/** Why calls failed, and why requests were refused before they became calls. */
function Why({ outcomes, refusals, hrefOf, refusedHref }: WhyProps) {
  const failed = outcomes.filter(({ group }) => group !== "ok" && group !== "client_gone");
  const isEmpty = failed.length === 0 && refusals.data.length === 0;
  return (
    <section class="panel">
      <table class="top why">
        <thead>
          <tr>
            <th scope="col">Failures and refusals</th>
            <th scope="col">What</th>
            <th scope="col" class="number">
              Count
            </th>
          </tr>
        </thead>
        <tbody>
          {failed.map(({ group, calls }) => (
            <tr key={group}>
              <th scope="row">
                <a href={hrefOf(group)}>{words(group)}</a>
              </th>
              <td class="muted">failed call</td>
              <td class="number">{short(calls)}</td>
            </tr>
          ))}
          {refusals.data.slice(0, MOST_TOPS).map(({ group, requests }) => (
            <tr key={`refused ${group}`}>
              <th scope="row">
                <a href={`${refusedHref}&reason=${encodeURIComponent(group)}`}>{words(group)}</a>
              </th>
              <td class="muted">refused request</td>
              <td class="number">{short(requests)}</td>
            </tr>
          ))}
          {isEmpty && (
            <tr>
              <td colSpan={3} class="muted">
                No call failed and no request was refused in this range.
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

interface OwnerSpendProps {
  owner: Owner;
  range: Range;
  nameOfKey: (id: string) => string;
}

const questionOf = ({ query }: { query: URLSearchParams }): string =>
  ["range", "from", "to"].map((name) => query.get(name) ?? "").join(" ");

/** What was spent in the range, on what and by whom, and what went wrong. Days are days of UTC, as budgets are. */
export function OwnerSpend({ owner, range, nameOfKey }: OwnerSpendProps) {
  const named = place.value.query;
  const question = questionOf(place.value);
  const loaded = useData(`${JSON.stringify(owner)} ${question}`, (abort) => load(owner, range, abort));
  const kept = new URLSearchParams(
    ["range", "from", "to"].flatMap((name) => (named.get(name) === null ? [] : [[name, named.get(name) ?? ""]])),
  );
  if (![...kept.keys()].length) kept.set("range", range.name ?? "30d");
  // Operators of one project have usage, but no list of calls.
  const seesCalls = session.value?.role !== "project";
  const hrefOf = (more: CallFilter): string => {
    const address = callsWith({ ...owner, ...more });
    return `${seesCalls ? address : address.replace("/calls", "/usage")}&${kept}`;
  };
  const refusedHref = `/refused?${new URLSearchParams(owner)}&${kept}`;
  return (
    <Loaded of={loaded} rows={8}>
      {({ times, before, outcomes, models, keys, refusals, everyMs }) => {
        const { total } = outcomes;
        const spent = stackOf(times.data, [everyMs === HOUR_MS ? "hour" : "day"], "cost");
        const calls = stackOf(times.data, [everyMs === HOUR_MS ? "hour" : "day"], "calls");
        const failures = stackOf(times.data, [everyMs === HOUR_MS ? "hour" : "day"], "failures");
        const failed = failures.series[0]?.values ?? [];
        const good = (calls.series[0]?.values ?? []).map((value, at) => value - (failed[at] ?? 0));
        const span = [range.fromMs, range.toMs ?? Date.now()] as const;
        const per = everyMs === HOUR_MS ? "hour" : "day of UTC";
        return (
          <>
            <dl class="tiles plain">
              <Figure
                name="Spent"
                href={`/usage?${new URLSearchParams({ q: "key" in owner ? `key:${owner.key}` : `project:${owner.project}`, by: "day,model" })}&${kept}`}
                note={<Change now={total.cost_nano_usd} before={before.cost_nano_usd} />}
              >
                {money(total.cost_nano_usd)}
              </Figure>
              <Figure name="Calls" href={hrefOf({})} note={<Change now={total.calls} before={before.calls} />}>
                {short(total.calls)}
              </Figure>
              <Figure
                name="Failed"
                href={hrefOf({ outcome: "failed" })}
                note={total.calls === 0 ? "–" : `${percent(total.failures, total.calls)} of calls`}
              >
                {short(total.failures)}
              </Figure>
              <Figure name="Refused" href={refusedHref} note="before they became calls; kept for 7 days">
                {short(refusals.total.requests)}
              </Figure>
            </dl>
            {total.calls > 0 && (
              <div class="spend-charts">
                <Chart
                  title={`Spend per ${per}`}
                  kind="bars"
                  times={spent.times}
                  everyMs={everyMs}
                  span={span}
                  series={[{ name: "Spend", values: spent.series[0]?.values ?? [], tone: "one" }]}
                  unit="money"
                  summary={`${money(total.cost_nano_usd)} in all.`}
                  height={180}
                />
                <Chart
                  title={`Calls per ${per}`}
                  kind="bars"
                  times={calls.times}
                  everyMs={everyMs}
                  span={span}
                  series={[
                    { name: "Answered", values: good, tone: "one" },
                    { name: "Failed", values: failed, tone: "bad" },
                  ]}
                  unit="count"
                  summary={`${whole(total.calls)} calls, ${whole(total.failures)} failed.`}
                  height={180}
                />
              </div>
            )}
            <div class="tops of-owner">
              <Top
                title="Models"
                rows={models.data}
                hrefOf={(model) => hrefOf({ model })}
                empty="No calls in this range."
              />
              {"key" in owner && <EndUsers keyId={owner.key} range={range} question={question} />}
              {keys !== undefined && (
                <Top
                  title="Keys"
                  rows={keys.data}
                  hrefOf={(key) => `/keys/${encodeURIComponent(key)}`}
                  nameOf={nameOfKey}
                  empty="No calls in this range."
                />
              )}
              <Why
                outcomes={outcomes.data}
                refusals={refusals}
                hrefOf={(outcome) => hrefOf({ outcome })}
                refusedHref={refusedHref}
              />
            </div>
          </>
        );
      }}
    </Loaded>
  );
}
