import { number, optionalText, text } from "../columns.ts";
import { type Parameter, type Queries, REPORT_MS, type Storage } from "../storage.ts";
import { readStoredJson } from "../stored-json.ts";
import { type Changed, countKeyChange } from "./change-counter.ts";

/** What an end user has used with one key. */
export interface EndUserSums {
  endUser: string;
  project: string;
  keyId: string;
  day: number;
  week: number;
  month: number;
  quarter: number;
  total: number;
  /** Of the day. */
  requests: number;
  tokens: number;
  lastAtMs: number;
}

export interface OwnEndUserSums extends EndUserSums {
  /** Written by the process that asked. */
  isOwn: boolean;
}

/** The first days of the windows, since 1970. */
export interface WindowDays {
  day: number;
  week: number;
  month: number;
  quarter: number;
}

const marks = (count: number): string => Array.from({ length: count }, () => "?").join(", ");

const since = (name: string, sum: string): string =>
  `CAST(SUM(CASE WHEN day >= ? THEN ${sum} ELSE 0 END) AS BIGINT) AS ${name}`;
const SUMS = [
  since("of_day", "cost_nano_usd"),
  since("of_week", "cost_nano_usd"),
  since("of_month", "cost_nano_usd"),
  since("of_quarter", "cost_nano_usd"),
  since("requests", "calls"),
  since("tokens", "tokens"),
  "CAST(SUM(cost_nano_usd) AS BIGINT) AS total",
  "MAX(last_at_ms) AS last_at_ms",
].join(", ");
const daysOf = ({ day, week, month, quarter }: WindowDays): number[] => [day, week, month, quarter, day, day];

/** The use of end users by key, apart for what one process has written. */
export async function sumEndUsers(
  queries: Queries,
  users: readonly string[],
  days: WindowDays,
  instance: string,
): Promise<OwnEndUserSums[]> {
  if (users.length === 0) return [];
  const rows = await queries.query(
    `SELECT end_user, project, key_id, own, ${SUMS}
     FROM (SELECT *, CASE WHEN instance = ? THEN 1 ELSE 0 END AS own FROM end_user_days WHERE end_user IN (${marks(users.length)})) AS days
     GROUP BY end_user, project, key_id, own`,
    [...daysOf(days), instance, ...users],
  );
  return rows.map((row) => ({ ...readSums(row), isOwn: number(row, "own") === 1 }));
}

const readSums = (row: Readonly<Record<string, unknown>>): EndUserSums => ({
  endUser: text(row, "end_user"),
  project: text(row, "project"),
  keyId: text(row, "key_id"),
  day: number(row, "of_day"),
  week: number(row, "of_week"),
  month: number(row, "of_month"),
  quarter: number(row, "of_quarter"),
  total: number(row, "total"),
  requests: number(row, "requests"),
  tokens: number(row, "tokens"),
  lastAtMs: number(row, "last_at_ms"),
});

/** What one process has written of an end user with one key. */
export interface EndUserInstanceSum {
  endUser: string;
  project: string;
  keyId: string;
  instance: string;
  calls: number;
  tokens: number;
  costNanoUsd: number;
}

/** The use of end users in a range of days, by the process that wrote it. */
export async function sumEndUsersByInstance(
  queries: Queries,
  users: readonly string[],
  { fromDay, untilDay }: { fromDay: number; untilDay: number },
): Promise<EndUserInstanceSum[]> {
  if (users.length === 0) return [];
  const rows = await queries.query(
    `SELECT end_user, project, key_id, instance, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(tokens) AS BIGINT) AS tokens,
       CAST(SUM(cost_nano_usd) AS BIGINT) AS cost
     FROM end_user_days WHERE end_user IN (${marks(users.length)}) AND day >= ? AND day < ?
     GROUP BY end_user, project, key_id, instance`,
    [...users, fromDay, untilDay],
  );
  return rows.map((row) => ({
    endUser: text(row, "end_user"),
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    instance: text(row, "instance"),
    calls: number(row, "calls"),
    tokens: number(row, "tokens"),
    costNanoUsd: number(row, "cost"),
  }));
}

/** Limits of one end user that replace the defaults. */
export interface StoredEndUserLimits {
  level: string;
  /** The id of the key or project; `gateway` for the gateway. */
  owner: string;
  endUser: string;
  /** `null` lifts a limit. Undefined: they were removed. */
  limits: Readonly<Record<string, number | null>> | undefined;
  changedAtMs: number;
}

const COLUMNS = "level, owner, end_user, limits, changed_at_ms";

/** Includes removed ones. */
export async function selectEndUserLimits(queries: Queries, users: readonly string[]): Promise<StoredEndUserLimits[]> {
  if (users.length === 0) return [];
  const rows = await queries.query(
    `SELECT ${COLUMNS} FROM end_user_limits WHERE end_user IN (${marks(users.length)})`,
    [...users],
  );
  return rows.map(readLimitsRow);
}

/** Those that have changed since the keys' counter had that value. */
export async function selectChangedEndUserLimits(
  queries: Queries,
  sinceNumber: number,
): Promise<Changed<StoredEndUserLimits>[]> {
  const rows = await queries.query(`SELECT ${COLUMNS}, change_number FROM end_user_limits WHERE change_number > ?`, [
    sinceNumber,
  ]);
  return rows.map((row) => ({ row: readLimitsRow(row), changeNumber: number(row, "change_number") }));
}

/** Sets or removes them, and notifies running servers. Call it in a transaction. */
export async function writeEndUserLimits(queries: Queries, limits: StoredEndUserLimits): Promise<void> {
  const changeNumber = await countKeyChange(queries);
  await queries.query(
    `INSERT INTO end_user_limits (${COLUMNS}, change_number) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (end_user, level, owner) DO UPDATE SET
       limits = excluded.limits, changed_at_ms = excluded.changed_at_ms, change_number = excluded.change_number`,
    [
      limits.level,
      limits.owner,
      limits.endUser,
      limits.limits === undefined ? null : JSON.stringify(limits.limits),
      limits.changedAtMs,
      changeNumber,
    ],
  );
}

function readLimitsRow(row: Readonly<Record<string, unknown>>): StoredEndUserLimits {
  const endUser = text(row, "end_user");
  const limits = optionalText(row, "limits");
  return {
    level: text(row, "level"),
    owner: text(row, "owner"),
    endUser,
    limits:
      limits === undefined
        ? undefined
        : readStoredJson<Record<string, number | null>>(`end user ${endUser}`, "limits", limits),
    changedAtMs: number(row, "changed_at_ms"),
  };
}

export interface EndUserFilter {
  project?: string | undefined;
  key?: string | undefined;
  /** The beginning of the id. */
  text?: string | undefined;
  /** Only those with limits of their own. */
  limited?: boolean | undefined;
  /** Only those after this one. */
  after?: string | undefined;
  limit: number;
}

/** After every id with this beginning. */
const endOf = (prefix: string): string => `${prefix}\u{10ffff}`;

/** The ids of known end users, in order. Ids are compared by their bytes. */
export async function selectEndUsers(storage: Storage, filter: EndUserFilter): Promise<string[]> {
  const { project, key, text: prefix = "", limited, after, limit } = filter;
  const conditions: [string, Parameter][] = [
    ...(prefix === ""
      ? []
      : ([
          ["end_user >= ?", prefix],
          ["end_user < ?", endOf(prefix)],
        ] as [string, Parameter][])),
    ...(after === undefined ? [] : ([["end_user > ?", after]] as [string, Parameter][])),
  ];
  const used: [string, Parameter][] = [
    ...conditions,
    ...(project === undefined ? [] : ([["project = ?", project]] as [string, Parameter][])),
    ...(key === undefined ? [] : ([["key_id = ?", key]] as [string, Parameter][])),
  ];
  // An operator of one project must not learn of end users elsewhere.
  const owner = key ?? project;
  const own: [string, Parameter][] = [
    ...conditions,
    ...(owner === undefined ? [] : ([["owner = ?", owner]] as [string, Parameter][])),
  ];
  const part = (table: string, given: readonly [string, Parameter][], more: string) => {
    const where = [...given.map(([condition]) => condition), ...(more === "" ? [] : [more])].join(" AND ");
    return `SELECT DISTINCT end_user AS one FROM ${table} ${where === "" ? "" : `WHERE ${where}`} ORDER BY 1 LIMIT ?`;
  };
  const parts: [string, Parameter[]][] = [
    ...(limited
      ? []
      : ([[part("end_user_days", used, ""), [...used.map(([, value]) => value), limit]]] as [string, Parameter[]][])),
    [part("end_user_limits", own, "limits IS NOT NULL"), [...own.map(([, value]) => value), limit]],
  ];
  const rows = await storage.query(
    `SELECT DISTINCT one FROM (${parts.map(([one]) => `SELECT one FROM (${one}) AS named`).join(" UNION ALL ")}) AS found ORDER BY 1 LIMIT ?`,
    [...parts.flatMap(([, parameters]) => parameters), limit],
    REPORT_MS,
  );
  return rows.map((row) => text(row, "one"));
}
