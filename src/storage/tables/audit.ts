import { withoutAbsent } from "../../base/without-absent.ts";
import { number, optionalText, text } from "../columns.ts";
import type { Parameter, Queries, StoredRow } from "../storage.ts";

/** One administrative act. Rows are only added: the tables reject changes. */
export interface StoredAct {
  /** Sorts by time. */
  id: string;
  atMs: number;
  /** `operator:<name>`, `key:<id>`, `command line`, `gateway`. */
  who: string;
  /** The client's address. */
  address?: string;
  /** Such as `key.create`. */
  act: string;
  /** The id of the object. */
  target: string;
  project?: string;
  /** JSON of what the act changed, without secrets. */
  before?: string;
  after?: string;
}

const COLUMNS = "id, at_ms, who, address, act, target, project, before_act, after_act";

export async function insertAct(queries: Queries, act: StoredAct): Promise<void> {
  await queries.query(`INSERT INTO audit (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    act.id,
    act.atMs,
    act.who,
    act.address ?? null,
    act.act,
    act.target,
    act.project ?? null,
    act.before ?? null,
    act.after ?? null,
  ]);
}

export interface ActFilter {
  who?: string;
  act?: string;
  target?: string;
  project?: string;
  fromMs?: number;
  /** Exclusive. */
  toMs?: number;
}

/** Newest first; `after` is the last id of the previous page. */
export async function selectActs(
  queries: Queries,
  filter: ActFilter,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<StoredAct[]> {
  const wanted: readonly [string, Parameter | undefined][] = [
    ["id < ?", after],
    ["who = ?", filter.who],
    ["act = ?", filter.act],
    ["target = ?", filter.target],
    ["project = ?", filter.project],
    ["at_ms >= ?", filter.fromMs],
    ["at_ms < ?", filter.toMs],
  ];
  const given = wanted.filter((one): one is [string, Parameter] => one[1] !== undefined);
  const where = given.length === 0 ? "" : `WHERE ${given.map(([condition]) => condition).join(" AND ")}`;
  const rows = await queries.query(`SELECT ${COLUMNS} FROM audit ${where} ORDER BY id DESC LIMIT ?`, [
    ...given.map(([, value]) => value),
    limit,
  ]);
  return rows.map(readAct);
}

function readAct(row: StoredRow): StoredAct {
  const address = optionalText(row, "address");
  const project = optionalText(row, "project");
  const before = optionalText(row, "before_act");
  const after = optionalText(row, "after_act");
  return withoutAbsent({
    id: text(row, "id"),
    atMs: number(row, "at_ms"),
    who: text(row, "who"),
    address,
    act: text(row, "act"),
    target: text(row, "target"),
    project,
    before,
    after,
  });
}
