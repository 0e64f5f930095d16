import { withoutAbsent } from "../../base/without-absent.ts";
import type { UnpricedPolicy } from "../../canon/billable.ts";
import type { Sharing } from "../../canon/ownership.ts";
import { number, optionalText, readSharing, text } from "../columns.ts";
import type { Parameter, Queries, StoredRow } from "../storage.ts";
import { readStoredJson } from "../stored-json.ts";
import { type Changed, countKeyChange } from "./change-counter.ts";

/** `deleted` ones stay as rows: receipts name them, and no later project may take their id. */
export type ProjectStatus = "active" | "suspended" | "deleted";

/** What owns keys, receipts, operations and files. */
export interface StoredProject {
  /** Unique and unchanging: receipts, operations and files have it. */
  id: string;
  name: string;
  limits: Readonly<Record<string, number>>;
  /** What its calls cost less than the list price; as `src/access/projects.ts` reads it. */
  discounts: readonly unknown[];
  status: ProjectStatus;
  /** Requests of its keys may name objects in providers' accounts. */
  providerObjects?: boolean;
  /** Who may see what its keys store; absent: all of them. */
  objects?: Sharing;
  /** What becomes of its keys' requests for what has no known price; absent where another level decides. */
  unpriced?: UnpricedPolicy;
  createdAtMs: number;
}

/** What may change in a project. */
export type ProjectChange = Pick<
  StoredProject,
  "name" | "limits" | "discounts" | "status" | "providerObjects" | "objects" | "unpriced"
>;

const COLUMNS = "id, name, limits, discounts, status, created_at_ms, provider_objects, objects, unpriced";

/** Keeps the project where there is none of that id, and lets running servers notice. Returns whether it is new. */
export async function insertProject(
  queries: Queries,
  project: Pick<StoredProject, "id" | "createdAtMs"> & Partial<ProjectChange>,
): Promise<boolean> {
  const { id, name = id, limits = {}, discounts = [], status = "active", unpriced, createdAtMs } = project;
  const inserted = await queries.query(
    `INSERT INTO projects (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id`,
    [
      id,
      name,
      JSON.stringify(limits),
      JSON.stringify(discounts),
      status,
      createdAtMs,
      project.providerObjects ? 1 : 0,
      project.objects ?? null,
      unpriced ?? null,
    ],
  );
  if (inserted.length === 0) return false;
  const changeNumber = await countKeyChange(queries);
  await queries.query("UPDATE projects SET change_number = ? WHERE id = ?", [changeNumber, id]);
  return true;
}

/** Replaces what may change, and lets running servers notice. */
export async function replaceProject(queries: Queries, id: string, project: ProjectChange): Promise<void> {
  const changeNumber = await countKeyChange(queries);
  await queries.query(
    "UPDATE projects SET change_number = ?, name = ?, limits = ?, discounts = ?, status = ?, provider_objects = ?, objects = ?, unpriced = ? WHERE id = ?",
    [
      changeNumber,
      project.name,
      JSON.stringify(project.limits),
      JSON.stringify(project.discounts),
      project.status,
      project.providerObjects ? 1 : 0,
      project.objects ?? null,
      project.unpriced ?? null,
      id,
    ],
  );
}

/** Deleted ones, too. */
export function selectProjects(queries: Queries): Promise<StoredProject[]> {
  return select(queries, "", []);
}

/** Projects that have changed since the counter of keys had that value. */
export async function selectChangedProjects(queries: Queries, since: number): Promise<Changed<StoredProject>[]> {
  const rows = await queries.query(
    `SELECT ${COLUMNS}, change_number FROM projects WHERE change_number > ? ORDER BY change_number`,
    [since],
  );
  return rows.map((row) => ({ row: readProject(row), changeNumber: number(row, "change_number") }));
}

export async function selectProject(queries: Queries, id: string): Promise<StoredProject | undefined> {
  return (await select(queries, "WHERE id = ?", [id]))[0];
}

async function select(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<StoredProject[]> {
  const rows = await queries.query(`SELECT ${COLUMNS} FROM projects ${where} ORDER BY id`, parameters);
  return rows.map(readProject);
}

function readProject(row: StoredRow): StoredProject {
  const id = text(row, "id");
  const of = `project ${id}`;
  return withoutAbsent({
    id,
    name: text(row, "name"),
    limits: readStoredJson<StoredProject["limits"]>(of, "limits", text(row, "limits")),
    discounts: readStoredJson<StoredProject["discounts"]>(of, "discounts", text(row, "discounts")),
    status: readStatus(text(row, "status")),
    createdAtMs: number(row, "created_at_ms"),
    providerObjects: number(row, "provider_objects") === 0 ? undefined : true,
    objects: readSharing(row),
    unpriced: readPolicy(optionalText(row, "unpriced")),
  });
}

/** A word that this program does not know must not let anything through. */
export const readPolicy = (written: string | undefined): UnpricedPolicy | undefined =>
  written === undefined || written === "mark" ? written : "refuse";

/** A status that this program does not know must not let calls through. */
function readStatus(written: string): ProjectStatus {
  return written === "active" || written === "deleted" ? written : "suspended";
}
