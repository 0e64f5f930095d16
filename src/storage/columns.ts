import { SHARING, type Sharing } from "../canon/ownership.ts";
import type { StoredRow } from "./storage.ts";

/** A text column. */
export function text(row: StoredRow, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : String(value ?? "");
}

export function optionalText(row: StoredRow, column: string): string | undefined {
  const value = row[column];
  return typeof value === "string" ? value : undefined;
}

/** A numeric column. PostgreSQL returns BIGINT and sums as text, SQLite as numbers. */
export function number(row: StoredRow, column: string): number {
  return optionalNumber(row, column) ?? 0;
}

export function optionalNumber(row: StoredRow, column: string): number | undefined {
  const value = row[column];
  return value === null || value === undefined ? undefined : Number(value);
}

/** A column of bytes; both engines return an array of them. */
export function bytes(row: StoredRow, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? value : new Uint8Array();
}

/** An unknown value must not open what a newer program has restricted. */
export function readSharingColumn(row: StoredRow, column = "objects"): Sharing | undefined {
  const written = optionalText(row, column);
  return written === undefined ? undefined : (SHARING.find((known) => known === written) ?? "private");
}
