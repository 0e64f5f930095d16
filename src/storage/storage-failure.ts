import { SQLiteError } from "bun:sqlite";
import { GatewayError } from "../canon/error.ts";
import { redactStorageUrl } from "./redact-storage-url.ts";

/** An error of the database, such as a damaged file, with the storage URL; any other error unchanged. */
export function storageFailure(thrown: unknown, url: string): unknown {
  if (!(thrown instanceof SQLiteError || thrown instanceof Bun.SQL.PostgresError)) return thrown;
  const message = `The storage cannot be used: ${redactStorageUrl(url)}: ${thrown.message}.`;
  return new GatewayError("internal", message, { cause: thrown });
}
