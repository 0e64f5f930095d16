import { SQLiteError } from "bun:sqlite";
import { isRefusal } from "./is-refusal.ts";
import { ReportsBusy } from "./reports-busy.ts";
import { StorageTimeout } from "./storage-timeout.ts";

/** A statement that is wrong in itself: a bug, which waiting does not cure. */
const SQLITE_MISTAKE = /^SQLITE_(?:ERROR|MISUSE)/;
const POSTGRES_MISTAKE = /^42/;

/** Whether a failure means that the store cannot be used now: locked, full, frozen, restarting or unreachable. */
export function isUnavailable(thrown: unknown): boolean {
  if (thrown instanceof StorageTimeout || thrown instanceof ReportsBusy) return true;
  if (isRefusal(thrown)) return false;
  if (thrown instanceof SQLiteError) return !SQLITE_MISTAKE.test(thrown.code ?? "SQLITE_ERROR");
  if (thrown instanceof Bun.SQL.PostgresError) return !POSTGRES_MISTAKE.test(thrown.errno ?? "");
  return false;
}
