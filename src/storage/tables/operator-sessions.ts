import { withoutAbsent } from "../../base/without-absent.ts";
import { number, optionalText, text } from "../columns.ts";
import type { Queries, Storage, StoredRow } from "../storage.ts";
import { readStoredJson } from "../stored-json.ts";

/** Someone who logged in at an issuer. */
export interface StoredPerson {
  issuer: string;
  subject: string;
  name: string;
  /** At the login. */
  groups: readonly string[];
}

export interface StoredSession {
  /** SHA-256 of the token. */
  hash: string;
  /** For operators to name it; it opens nothing. */
  id: string;
  operatorId: string;
  /** SHA-256 of the secret that opened it; empty for a person. */
  secretHash: string;
  createdAtMs: number;
  usedAtMs: number;
  /** Where it was opened. */
  address?: string;
  /** Absent for operators with a secret. */
  person?: StoredPerson;
}

const COLUMNS =
  "hash, id, operator_id, secret_hash, created_at_ms, used_at_ms, address, issuer, subject, name, person_groups";

/** Adds the session; its operator keeps only the newest `most`. Sessions that began before `sinceMs` are deleted. */
export async function insertSession(
  storage: Storage,
  session: StoredSession,
  { most, sinceMs }: { most: number; sinceMs: number },
): Promise<void> {
  const { person } = session;
  await storage.transaction(async (queries) => {
    await queries.query("DELETE FROM operator_sessions WHERE created_at_ms < ?", [sinceMs]);
    await queries.query(`INSERT INTO operator_sessions (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
      session.hash,
      session.id,
      session.operatorId,
      session.secretHash,
      session.createdAtMs,
      session.usedAtMs,
      session.address ?? null,
      person?.issuer ?? null,
      person?.subject ?? null,
      person?.name ?? null,
      person === undefined ? null : JSON.stringify(person.groups),
    ]);
    await queries.query(
      `DELETE FROM operator_sessions WHERE operator_id = ? AND hash NOT IN (
         SELECT hash FROM operator_sessions WHERE operator_id = ? ORDER BY created_at_ms DESC, hash LIMIT ?)`,
      [session.operatorId, session.operatorId, most],
    );
  });
}

export async function selectSession(queries: Queries, hash: string): Promise<StoredSession | undefined> {
  const [row] = await queries.query(`SELECT ${COLUMNS} FROM operator_sessions WHERE hash = ?`, [hash]);
  return row === undefined ? undefined : readSession(row);
}

/** All sessions, the newest first. */
export async function selectSessions(queries: Queries): Promise<StoredSession[]> {
  const rows = await queries.query(`SELECT ${COLUMNS} FROM operator_sessions ORDER BY created_at_ms DESC, hash`);
  return rows.map(readSession);
}

export async function touchSession(queries: Queries, hash: string, usedAtMs: number): Promise<void> {
  await queries.query("UPDATE operator_sessions SET used_at_ms = ? WHERE hash = ?", [usedAtMs, hash]);
}

/** Whether there was one. */
export async function deleteSession(queries: Queries, hash: string): Promise<boolean> {
  return (await queries.query("DELETE FROM operator_sessions WHERE hash = ? RETURNING hash", [hash])).length > 0;
}

/** How many sessions of that person there were. */
export async function deleteSessionsOfPerson(
  queries: Queries,
  { issuer, subject }: Pick<StoredPerson, "issuer" | "subject">,
): Promise<number> {
  const deleted = "DELETE FROM operator_sessions WHERE issuer = ? AND subject = ? RETURNING hash";
  return (await queries.query(deleted, [issuer, subject])).length;
}

function readSession(row: StoredRow): StoredSession {
  const hash = text(row, "hash");
  const issuer = optionalText(row, "issuer");
  const groups = optionalText(row, "person_groups");
  return withoutAbsent({
    hash,
    id: optionalText(row, "id") ?? `ses_${hash.slice(0, 24)}`,
    operatorId: text(row, "operator_id"),
    secretHash: text(row, "secret_hash"),
    createdAtMs: number(row, "created_at_ms"),
    usedAtMs: number(row, "used_at_ms"),
    address: optionalText(row, "address"),
    person:
      issuer === undefined
        ? undefined
        : {
            issuer,
            subject: text(row, "subject"),
            name: text(row, "name"),
            groups: groups === undefined ? [] : readStoredJson<string[]>("session", "person_groups", groups),
          },
  });
}
