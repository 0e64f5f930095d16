import { withoutAbsent } from "../../base/without-absent.ts";
import type { UnpricedPolicy } from "../../canon/billable.ts";
import type { Sharing } from "../../canon/ownership.ts";
import type { AnswerCacheSettings } from "../../canon/settings/answer-cache-settings.ts";
import { number, optionalNumber, optionalText, readSharingColumn, text } from "../columns.ts";
import type { Parameter, Queries, StoredRow } from "../storage.ts";
import { readStoredJson } from "../stored-json.ts";
import { type Changed, countKeyChange } from "./change-counter.ts";

/** `deleted` projects stay as rows: receipts name them, and no later project may take their id. */
export type ProjectStatus = "active" | "suspended" | "deleted";

/** Owns keys, receipts, operations and files. */
export interface StoredProject {
  /** Unique and permanent: receipts, operations and files refer to it. */
  id: string;
  name: string;
  limits: Readonly<Record<string, number>>;
  /** Discounts on the list price; `src/access/projects.ts` reads them. */
  discounts: readonly unknown[];
  status: ProjectStatus;
  /** Requests of its keys may name objects in providers' accounts. */
  providerObjects?: boolean;
  /** Who may see what its keys store; absent: all of them. */
  objects?: Sharing;
  /** Its share of the space for objects, in MB; absent: the gateway's setting. */
  projectMb?: number;
  /** What happens to requests without a known price; absent if another level decides. */
  unpriced?: UnpricedPolicy;
  /** Limits for end users, models and tags; `src/access/part-limits.ts` reads them. */
  partLimits?: Readonly<Record<string, unknown>>;
  /** Responses of its keys answer equal requests. */
  answerCache?: AnswerCacheSettings;
  createdAtMs: number;
}

/** The fields of a project that can change. */
export type ProjectChange = Pick<
  StoredProject,
  | "name"
  | "limits"
  | "discounts"
  | "status"
  | "providerObjects"
  | "objects"
  | "projectMb"
  | "unpriced"
  | "partLimits"
  | "answerCache"
>;

const COLUMNS =
  "id, name, limits, discounts, status, created_at_ms, provider_objects, objects, project_mb, unpriced, part_limits, answer_cache";

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Inserts the project if its id does not exist, and notifies running servers. Returns whether it is new. */
export async function insertProject(
  queries: Queries,
  project: Pick<StoredProject, "id" | "createdAtMs"> & Partial<ProjectChange>,
): Promise<boolean> {
  const { id, name = id, limits = {}, discounts = [], status = "active", unpriced, createdAtMs } = project;
  const inserted = await queries.query(
    `INSERT INTO projects (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id`,
    [
      id,
      name,
      JSON.stringify(limits),
      JSON.stringify(discounts),
      status,
      createdAtMs,
      project.providerObjects ? 1 : 0,
      project.objects ?? null,
      project.projectMb ?? null,
      unpriced ?? null,
      jsonOrNull(project.partLimits),
      jsonOrNull(project.answerCache),
    ],
  );
  if (inserted.length === 0) return false;
  const changeNumber = await countKeyChange(queries);
  await queries.query("UPDATE projects SET change_number = ? WHERE id = ?", [changeNumber, id]);
  return true;
}

/** Replaces the changeable fields, and notifies running servers. */
export async function replaceProject(queries: Queries, id: string, project: ProjectChange): Promise<void> {
  const changeNumber = await countKeyChange(queries);
  await queries.query(
    "UPDATE projects SET change_number = ?, name = ?, limits = ?, discounts = ?, status = ?, provider_objects = ?, objects = ?, project_mb = ?, unpriced = ?, part_limits = ?, answer_cache = ? WHERE id = ?",
    [
      changeNumber,
      project.name,
      JSON.stringify(project.limits),
      JSON.stringify(project.discounts),
      project.status,
      project.providerObjects ? 1 : 0,
      project.objects ?? null,
      project.projectMb ?? null,
      project.unpriced ?? null,
      jsonOrNull(project.partLimits),
      jsonOrNull(project.answerCache),
      id,
    ],
  );
}

/** Includes deleted projects. */
export function selectProjects(queries: Queries): Promise<StoredProject[]> {
  return select(queries, "", []);
}

/** Projects that have changed since the keys' counter had that value. */
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
  const partLimits = optionalText(row, "part_limits");
  const answerCache = optionalText(row, "answer_cache");
  return withoutAbsent({
    id,
    name: text(row, "name"),
    limits: readStoredJson<StoredProject["limits"]>(of, "limits", text(row, "limits")),
    discounts: readStoredJson<StoredProject["discounts"]>(of, "discounts", text(row, "discounts")),
    status: readStatus(text(row, "status")),
    createdAtMs: number(row, "created_at_ms"),
    providerObjects: number(row, "provider_objects") === 0 ? undefined : true,
    objects: readSharingColumn(row),
    projectMb: optionalNumber(row, "project_mb"),
    unpriced: readPolicy(optionalText(row, "unpriced")),
    partLimits:
      partLimits === undefined ? undefined : readStoredJson<Record<string, unknown>>(of, "part_limits", partLimits),
    answerCache:
      answerCache === undefined ? undefined : readStoredJson<AnswerCacheSettings>(of, "answer_cache", answerCache),
  });
}

/** An unknown value must not allow anything. */
export const readPolicy = (written: string | undefined): UnpricedPolicy | undefined =>
  written === undefined || written === "mark" ? written : "refuse";

/** An unknown status must not allow calls. */
function readStatus(written: string): ProjectStatus {
  return written === "active" || written === "deleted" ? written : "suspended";
}
