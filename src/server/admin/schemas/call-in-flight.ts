import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

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
    session_id: nullable(Type.String({ description: "Its live connection, if it is a turn of one." })),
    batch: nullable(Type.String({ description: "Its batch, if it is a line of one." })),
    stopping: Type.Boolean({ description: "An operator has stopped it, and it has not ended yet." }),
    instance: Type.String({ description: "The process that serves it." }),
  },
  { title: "CallItem" },
);

export type CallItem = Static<typeof CallItem>;
