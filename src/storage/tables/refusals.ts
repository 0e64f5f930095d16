import { number, optionalNumber, text } from "../columns.ts";
import { type Parameter, REPORT_MS, type Storage } from "../storage.ts";

/** How many requests of a minute were refused for one reason. */
export interface RefusalRow {
  /** Minutes since 1970. */
  minute: number;
  reason: string;
  /** Empty if no existing key was presented. */
  project: string;
  /** The same; `other` if there were too many to count separately, as in `address`. */
  keyId: string;
  addressClass: string;
  address: string;
  requests: number;
}

const MINUTE_MS = 60_000;
const ROWS_AT_ONCE = 50;
const COLUMNS = ["minute", "instance", "reason", "project", "key_id", "address_class", "address", "requests"];

/** Replaces the rows that this instance had written: a row that is written twice counts once. */
export async function writeRefusals(storage: Storage, instance: string, rows: readonly RefusalRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const some = rows.slice(at, at + ROWS_AT_ONCE);
    const marks = some.map(() => `(${COLUMNS.map(() => "?").join(", ")})`).join(", ");
    await storage.query(
      `INSERT INTO refusals (${COLUMNS.join(", ")}) VALUES ${marks}
       ON CONFLICT (minute, instance, reason, project, key_id, address_class, address) DO UPDATE SET requests = excluded.requests`,
      some.flatMap(({ minute, reason, project, keyId, addressClass, address, requests }): Parameter[] => [
        ...[minute, instance, reason, project, keyId, addressClass, address, requests],
      ]),
    );
  }
}

const GROUPS = {
  reason: "reason",
  key: "key_id",
  project: "project",
  address_class: "address_class",
  address: "address",
  minute: "minute",
  hour: "minute / 60",
  day: "minute / 1440",
} as const;

export type RefusalDimension = keyof typeof GROUPS;
export const REFUSAL_DIMENSIONS = Object.keys(GROUPS) as RefusalDimension[];

const MINUTES: Readonly<Partial<Record<RefusalDimension, number>>> = { minute: 1, hour: 60, day: 1440 };

export interface RefusalsQuestion {
  by: readonly RefusalDimension[];
  fromMs: number;
  /** Exclusive. */
  toMs: number;
  reason?: string;
  keyId?: string;
  project?: string;
  address?: string;
}

export interface RefusalSum {
  /** In the order of `by`; times in ISO 8601. */
  groups: string[];
  requests: number;
  /** The starts of the first and the last minute; undefined without requests. */
  firstMs: number | undefined;
  lastMs: number | undefined;
}

const SUMS = "CAST(SUM(requests) AS BIGINT) AS requests, MIN(minute) AS first_minute, MAX(minute) AS last_minute";

const momentOf = (minute: number | undefined): number | undefined =>
  minute === undefined ? undefined : minute * MINUTE_MS;

/** Sums by these dimensions: times in order, otherwise the most requests first. */
export async function sumRefusals(storage: Storage, question: RefusalsQuestion, limit: number): Promise<RefusalSum[]> {
  const { by, fromMs, toMs } = question;
  const filters = { reason: question.reason, key_id: question.keyId, project: question.project };
  const given = Object.entries({ ...filters, address: question.address }).filter(([, value]) => value !== undefined);
  const columns = by.map((dimension, index) => `${GROUPS[dimension]} AS group_${index}`);
  const names = by.map((_, index) => `group_${index}`);
  const times = names.filter((_, index) => MINUTES[by[index] ?? "reason"] !== undefined);
  const rows = await storage.query(
    `SELECT ${[...columns, SUMS].join(", ")} FROM refusals
     WHERE minute >= ? AND minute < ?${given.map(([name]) => ` AND ${name} = ?`).join("")}
     ${by.length === 0 ? "" : `GROUP BY ${by.map((_, index) => index + 1).join(", ")}`}
     ORDER BY ${[...times, "requests DESC", ...names].join(", ")} LIMIT ?`,
    [
      Math.floor(fromMs / MINUTE_MS),
      Math.ceil(toMs / MINUTE_MS),
      ...given.map(([, value]): Parameter => value ?? null),
      limit,
    ],
    REPORT_MS,
  );
  return rows.map((row) => ({
    groups: by.map((dimension, index) => {
      const minutes = MINUTES[dimension];
      const name = `group_${index}`;
      return minutes === undefined ? text(row, name) : new Date(number(row, name) * minutes * MINUTE_MS).toISOString();
    }),
    requests: row["requests"] === null ? 0 : number(row, "requests"),
    firstMs: momentOf(optionalNumber(row, "first_minute")),
    lastMs: momentOf(optionalNumber(row, "last_minute")),
  }));
}

export async function deleteRefusalsBefore(storage: Storage, beforeMs: number): Promise<void> {
  await storage.query("DELETE FROM refusals WHERE minute < ?", [Math.floor(beforeMs / MINUTE_MS)]);
}
