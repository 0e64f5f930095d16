import { withoutAbsent } from "../../base/without-absent.ts";
import type { Role } from "../../canon/role.ts";
import { number, optionalNumber, optionalText, text } from "../columns.ts";
import type { Parameter, Queries, StoredRow } from "../storage.ts";

export interface StoredOperator {
  id: string;
  name: string;
  role: Role;
  /** For an operator with the role `project`. */
  project?: string;
  /** SHA-256 of the secret. */
  hash: string;
  hint: string;
  createdAtMs: number;
  revokedAtMs?: number;
}

const COLUMNS = "id, name, role, project, hash, hint, created_at_ms, revoked_at_ms";

export async function insertOperator(queries: Queries, operator: StoredOperator): Promise<void> {
  await queries.query(`INSERT INTO operators (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, [
    operator.id,
    operator.name,
    operator.role,
    operator.project ?? null,
    operator.hash,
    operator.hint,
    operator.createdAtMs,
    operator.revokedAtMs ?? null,
  ]);
}

export function selectOperators(queries: Queries): Promise<StoredOperator[]> {
  return select(queries, "", []);
}

/** The operator of that id, and every operator of that name. */
export function selectOperatorsByIdOrName(queries: Queries, idOrName: string): Promise<StoredOperator[]> {
  return select(queries, "WHERE id = ? OR name = ?", [idOrName, idOrName]);
}

export async function selectOperatorByHash(queries: Queries, hash: string): Promise<StoredOperator | undefined> {
  const [found] = await select(queries, "WHERE hash = ?", [hash]);
  return found;
}

/** Revokes the operator, and ends its sessions. */
export async function markOperatorRevoked(queries: Queries, id: string, revokedAtMs: number): Promise<void> {
  await queries.query("UPDATE operators SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL", [
    revokedAtMs,
    id,
  ]);
  await queries.query("DELETE FROM operator_sessions WHERE operator_id = ?", [id]);
}

async function select(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<StoredOperator[]> {
  const rows = await queries.query(`SELECT ${COLUMNS} FROM operators ${where} ORDER BY created_at_ms, id`, parameters);
  return rows.map(readOperator);
}

function readOperator(row: StoredRow): StoredOperator {
  const project = optionalText(row, "project");
  const revokedAtMs = optionalNumber(row, "revoked_at_ms");
  return withoutAbsent({
    id: text(row, "id"),
    name: text(row, "name"),
    role: text(row, "role") as Role,
    project,
    hash: text(row, "hash"),
    hint: text(row, "hint"),
    createdAtMs: number(row, "created_at_ms"),
    revokedAtMs,
  });
}
