import type { StoredExport } from "../storage/tables/exports.ts";
import { harmless, quotedName } from "./alert.ts";
import type { PassedThreshold } from "./budget-alerts.ts";

/** A destination may be away for a moment. */
const FAILURES = 3;
const KEPT_MS = 62 * 86_400_000;

/** An export that keeps failing, reported once until it succeeds again. */
export function exportAlert({
  name,
  failures,
  failingSinceMs,
  error = "",
  coveredUntilMs,
}: StoredExport): PassedThreshold | undefined {
  if (failures < FAILURES || failingSinceMs === undefined) return undefined;
  return {
    claims: [JSON.stringify(["export", name, failingSinceMs])],
    expiresAtMs: failingSinceMs + KEPT_MS,
    draft: {
      type: "export.failed",
      text: `The export ${quotedName(name)} fails and will be retried. ${harmless(error)}`,
      data: {
        export: name,
        error,
        failures,
        failing_since: new Date(failingSinceMs).toISOString(),
        exported_until: coveredUntilMs === 0 ? null : new Date(coveredUntilMs).toISOString(),
      },
    },
  };
}
