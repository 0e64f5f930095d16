import type { Operation, OperationPart, StoredError } from "../canon/operation.ts";

/** Ends parts with an error. An operation without parts gets one, so that it has a reason for its failure. */
export function failParts(
  operation: Operation,
  { kind, message }: StoredError,
  isMeant: (part: OperationPart) => boolean,
): void {
  if (operation.parts.length === 0)
    operation.parts = [{ state: "new", count: 0, dueAtMs: 0, failures: 0, videos: [], filtered: [] }];
  for (const part of operation.parts)
    if (isMeant(part)) Object.assign(part, { state: "failed", error: { kind, message } });
}
