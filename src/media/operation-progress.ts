import type { OperationPart } from "../canon/operation.ts";

/** Progress over all videos, 0..100; undefined if the provider reports none. */
export function operationProgress(parts: readonly OperationPart[]): number | undefined {
  if (parts.every((part) => part.progress === undefined && part.state !== "done")) return undefined;
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const reached = (part: OperationPart) =>
    part.state === "done" || part.state === "failed" ? 100 : (part.progress ?? 0);
  return Math.floor(parts.reduce((sum, part) => sum + reached(part) * part.count, 0) / Math.max(1, total));
}
