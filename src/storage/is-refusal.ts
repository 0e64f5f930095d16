import { SQLiteError } from "bun:sqlite";

const SQLITE_REFUSAL = /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE)/;
/** Data exceptions, violated constraints, program limits, and type mismatches. */
const POSTGRES_REFUSAL = /^(?:22|23|54|42804)/;

/**
 * Whether a statement failed because of its values, so that it will always fail. Other failures, such as a locked file, a full
 * disk or a lost connection, may pass with time.
 */
export function isRefusal(thrown: unknown): boolean {
  if (thrown instanceof SQLiteError) return SQLITE_REFUSAL.test(thrown.code ?? "");
  if (thrown instanceof Bun.SQL.PostgresError) return POSTGRES_REFUSAL.test(thrown.errno ?? "");
  // A value whose type the engine does not support.
  return thrown instanceof TypeError;
}
