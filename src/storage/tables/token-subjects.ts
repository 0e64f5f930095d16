import { withoutAbsent } from "../../base/without-absent.ts";
import { number, optionalNumber, text } from "../columns.ts";
import type { Parameter, Queries, Storage, StoredRow } from "../storage.ts";
import { type Changed, countKeyChange } from "./change-counter.ts";

/** Someone for whom an issuer has signed tokens that clients have used, or that may not be used any more. */
export interface StoredSubject {
  id: string;
  issuer: string;
  subject: string;
  /** Of the last token; empty if none was used. */
  project: string;
  /** The name in the last token. */
  name: string;
  createdAtMs: number;
  /** Accurate to some seconds; 0 if no token was used. */
  usedAtMs: number;
  /** When the newest token was issued that was used; 0 if none was. */
  issuedAtMs: number;
  /** Tokens issued up to this time are refused. */
  revokedUntilMs?: number;
}

const COLUMNS = "id, issuer, subject, project, name, created_at_ms, used_at_ms, issued_at_ms, revoked_until_ms";

/** Writes subjects that were seen. The latest use counts, whichever process writes it. Servers are not notified. */
export function writeSubjects(storage: Storage, subjects: readonly StoredSubject[]): Promise<void> {
  return storage.runForEach(
    `INSERT INTO token_subjects (id, issuer, subject, project, name, created_at_ms, used_at_ms, issued_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET
       project = CASE WHEN excluded.used_at_ms >= token_subjects.used_at_ms THEN excluded.project ELSE token_subjects.project END,
       name = CASE WHEN excluded.used_at_ms >= token_subjects.used_at_ms THEN excluded.name ELSE token_subjects.name END,
       used_at_ms = CASE WHEN excluded.used_at_ms > token_subjects.used_at_ms THEN excluded.used_at_ms ELSE token_subjects.used_at_ms END,
       issued_at_ms = CASE WHEN excluded.issued_at_ms > token_subjects.issued_at_ms THEN excluded.issued_at_ms ELSE token_subjects.issued_at_ms END`,
    subjects.map(({ id, issuer, subject, project, name, createdAtMs, usedAtMs, issuedAtMs }) => [
      id,
      issuer,
      subject,
      project,
      name,
      createdAtMs,
      usedAtMs,
      issuedAtMs,
    ]),
  );
}

/** Refuses the subject's tokens issued up to that time, and notifies running servers. Call it in a transaction. */
export async function markSubjectRevoked(
  queries: Queries,
  { id, issuer, subject }: Pick<StoredSubject, "id" | "issuer" | "subject">,
  untilMs: number,
): Promise<void> {
  const changeNumber = await countKeyChange(queries);
  await queries.query(
    `INSERT INTO token_subjects (id, issuer, subject, project, name, created_at_ms, used_at_ms, issued_at_ms, revoked_until_ms, change_number)
     VALUES (?, ?, ?, '', '', ?, 0, 0, ?, ?)
     ON CONFLICT (id) DO UPDATE SET
       revoked_until_ms = CASE WHEN token_subjects.revoked_until_ms > excluded.revoked_until_ms THEN token_subjects.revoked_until_ms ELSE excluded.revoked_until_ms END,
       change_number = excluded.change_number`,
    [id, issuer, subject, untilMs, untilMs, changeNumber],
  );
}

export async function selectSubject(queries: Queries, id: string): Promise<StoredSubject | undefined> {
  const [found] = await select(queries, "WHERE id = ?", [id]);
  return found;
}

export const selectRevokedSubjects = (queries: Queries): Promise<StoredSubject[]> =>
  select(queries, "WHERE revoked_until_ms IS NOT NULL", []);

/** Subjects that were revoked since the counter had that value. */
export async function selectChangedSubjects(queries: Queries, since: number): Promise<Changed<StoredSubject>[]> {
  const rows = await queries.query(
    `SELECT ${COLUMNS}, change_number FROM token_subjects WHERE change_number > ? ORDER BY change_number`,
    [since],
  );
  return rows.map((row) => ({ row: readSubject(row), changeNumber: number(row, "change_number") }));
}

export interface SubjectFilter {
  issuer?: string;
  subject?: string;
  project?: string;
}

/** The most recently used first. `after` is the id of the last one of the page before. */
export async function listSubjects(
  queries: Queries,
  { issuer, subject, project }: SubjectFilter,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<StoredSubject[]> {
  const last = after === undefined ? undefined : await selectSubject(queries, after);
  const conditions: [string, Parameter[]][] = [
    ...(issuer === undefined ? [] : [["issuer = ?", [issuer]] as [string, Parameter[]]]),
    ...(subject === undefined ? [] : [["subject = ?", [subject]] as [string, Parameter[]]]),
    ...(project === undefined ? [] : [["project = ?", [project]] as [string, Parameter[]]]),
    ...(last === undefined
      ? []
      : [
          ["(used_at_ms < ? OR (used_at_ms = ? AND id < ?))", [last.usedAtMs, last.usedAtMs, last.id]] as [
            string,
            Parameter[],
          ],
        ]),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.map(([condition]) => condition).join(" AND ")}`;
  return select(queries, `${where} ORDER BY used_at_ms DESC, id DESC LIMIT ?`, [
    ...conditions.flatMap(([, parameters]) => parameters),
    limit,
  ]);
}

async function select(queries: Queries, rest: string, parameters: readonly Parameter[]): Promise<StoredSubject[]> {
  return (await queries.query(`SELECT ${COLUMNS} FROM token_subjects ${rest}`, parameters)).map(readSubject);
}

function readSubject(row: StoredRow): StoredSubject {
  return withoutAbsent({
    id: text(row, "id"),
    issuer: text(row, "issuer"),
    subject: text(row, "subject"),
    project: text(row, "project"),
    name: text(row, "name"),
    createdAtMs: number(row, "created_at_ms"),
    usedAtMs: number(row, "used_at_ms"),
    issuedAtMs: number(row, "issued_at_ms"),
    revokedUntilMs: optionalNumber(row, "revoked_until_ms"),
  });
}
