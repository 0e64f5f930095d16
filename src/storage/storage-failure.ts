import { SQLiteError } from "bun:sqlite";
import { SQL } from "bun";
import { GatewayError } from "../canon/error.ts";
import { redactStorageUrl } from "./redact-storage-url.ts";

/** What a database says of itself, such as that its file is damaged, with its place; anything else as it was thrown. */
export function storageFailure(thrown: unknown, url: string): unknown {
  if (!(thrown instanceof SQLiteError || thrown instanceof SQL.PostgresError)) return thrown;
  const message = `The storage cannot be used: ${redactStorageUrl(url)}: ${thrown.message}.`;
  return new GatewayError("internal", message, { cause: thrown });
}
