import type { Gateway } from "../../../relay/gateway.ts";
import type { RunningCall } from "../../../relay/running-calls.ts";
import type { CallItem } from "../schemas/call-in-flight.ts";

/** A call as it is now. */
export function callItem(call: RunningCall, { clock, instance }: Pick<Gateway, "clock" | "instance">): CallItem {
  const { incoming, principal, admission, timer, offersTried, client } = call;
  const working = client.listeners.filter(({ target }) => target !== undefined);
  const last = offersTried.at(-1);
  const target = working.at(-1)?.target ?? call.attempt?.target;
  // An attempt is recorded when its first content has arrived, and continues.
  const isRecorded = last?.outcome === "answered" && timer.firstContentAtMs !== undefined;
  return {
    id: call.receiptId,
    project: principal.project,
    key: principal.keyId,
    end_user: admission.endUser ?? null,
    verb: call.verb,
    model: (target?.model ?? call.model).id,
    dialect: incoming.dialect.name,
    stream: call.stream,
    phase: timer.phase,
    provider: target?.offer.provider ?? last?.provider ?? null,
    upstream_model: target?.offer.upstreamModel ?? null,
    credential: target?.credential || null,
    attempts: offersTried.length + (isRecorded ? 0 : working.length),
    started_at: new Date(admission.atMs).toISOString(),
    age_ms: Math.round(clock.nowMs() - call.startedAtMs),
    first_content_ms:
      timer.firstContentAtMs === undefined ? null : Math.round(timer.firstContentAtMs - call.startedAtMs),
    characters: working.at(-1)?.contentSoFar ?? null,
    request_id: incoming.requestId,
    session_id: incoming.connection.session ?? null,
    batch: incoming.line?.batch.id ?? null,
    stopping: client.stopped !== undefined,
    instance,
  };
}
