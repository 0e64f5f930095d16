import { arrayAt, isObject, numberAt, objectAt, stringAt } from "../base/json.ts";
import { anyForm } from "../objects/object-id.ts";
import type { FailedBatch } from "../storage/tables/batches.ts";
import { harmless, quotedName } from "./alert.ts";
import type { PassedThreshold } from "./budget-alerts.ts";

/** Longer than a batch can be shown. */
const KEPT_MS = 62 * 86_400_000;

/** A batch that failed or expired, reported once. */
export function batchAlert({
  id: random,
  project,
  keyId,
  state,
  endpoint,
  metadata,
  ...batch
}: FailedBatch): PassedThreshold {
  const id = anyForm("batch", random);
  const endedAtMs = numberAt(objectAt(metadata, "at"), state) ?? batch.createdAtMs;
  const error = arrayAt(metadata, "errors").find(isObject);
  const line = numberAt(error, "line");
  const which = `The batch ${id} of the project ${quotedName(project)}`;
  const message = stringAt(error, "message");
  const reason = `${line === undefined ? "" : `Line ${line}: `}${harmless(message ?? "The reason is unknown.")}`;
  return {
    claims: [JSON.stringify(["batch", id])],
    expiresAtMs: endedAtMs + KEPT_MS,
    draft: {
      type: "batch.failed",
      text:
        state === "expired"
          ? `${which} expired: some of its requests were not run in time.`
          : `${which} failed, and none of its requests were run. ${reason}`,
      data: {
        batch: id,
        project,
        key: keyId,
        state,
        endpoint,
        error:
          error === undefined
            ? null
            : {
                code: stringAt(error, "code") ?? null,
                message: message ?? null,
                line: line ?? null,
              },
        created_at: new Date(batch.createdAtMs).toISOString(),
        ended_at: new Date(endedAtMs).toISOString(),
      },
    },
  };
}
