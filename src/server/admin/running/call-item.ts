import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import type { Gateway } from "../../../relay/gateway.ts";
import type { RunningCall } from "../../../relay/running-calls.ts";
import { Timestamp } from "../schemas/answers.ts";

const PHASES = ["gateway", "client", "queue", "backoff", "provider", "stream"] as const;

export const CallItem = Type.Object(
  {
    id: Type.String({ description: "Of its receipt, which is written when the call ends." }),
    project: Type.String(),
    key: Type.String({ description: "The id of its key." }),
    end_user: nullable(Type.String()),
    verb: Type.String(),
    model: Type.String(),
    dialect: Type.String({ description: "The client's protocol." }),
    stream: Type.Boolean(),
    phase: Type.Enum(PHASES, {
      description:
        "What the call is doing or waiting for: `queue` is a slot at a provider, `backoff` a pause before a retry, `provider` the first content, `client` a client that does not read.",
    }),
    provider: nullable(Type.String({ description: "The provider that is being tried, or was tried last." })),
    upstream_model: nullable(Type.String()),
    credential: nullable(Type.String()),
    attempts: Type.Integer(),
    started_at: Timestamp,
    age_ms: Type.Integer(),
    first_content_ms: nullable(Type.Integer({ description: "From the start of the call to its first content." })),
    characters: nullable(Type.Integer({ description: "How much content a stream has produced, approximately." })),
    request_id: Type.String(),
    session_id: nullable(Type.String({ description: "The live connection that it is a turn of." })),
    batch: nullable(Type.String({ description: "The batch that it is a line of." })),
    stopping: Type.Boolean({ description: "An operator has stopped it, and it has not ended yet." }),
    instance: Type.String({ description: "The process that serves it." }),
  },
  { title: "CallItem" },
);

export type CallItem = Static<typeof CallItem>;

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
