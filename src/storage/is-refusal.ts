import { SQLiteError } from "bun:sqlite";
import { SQL } from "bun";

const SQLITE_REFUSAL = /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE)/;
/** Data exceptions, broken constraints, limits of the program, types that do not fit. */
const POSTGRES_REFUSAL = /^(?:22|23|54|42804)/;

/**
 * Whether a statement failed for what it was given: however often it is given, it will fail. What else fails, such as a file
 * that is held, a full disk or a lost connection, may pass with time.
 */
export function isRefusal(thrown: unknown): boolean {
  if (thrown instanceof SQLiteError) return SQLITE_REFUSAL.test(thrown.code ?? "");
  if (thrown instanceof SQL.PostgresError) return POSTGRES_REFUSAL.test(thrown.errno ?? "");
  // A value that is of no type of the engine's.
  return thrown instanceof TypeError;
}
