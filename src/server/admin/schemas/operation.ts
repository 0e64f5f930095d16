import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

export const STATES = ["submitting", "running", "done", "failed"] as const;

export const OperationItem = Type.Object(
  {
    id: Type.String(),
    name: nullable(Type.String({ description: "The name that clients poll; null for a background response." })),
    kind: Type.Enum(["video", "answer"]),
    state: Type.Enum([...STATES]),
    cancelled: Type.Boolean({ description: "An operator has cancelled it." }),
    project: Type.String(),
    key: Type.String(),
    model: Type.String(),
    provider: nullable(Type.String()),
    progress: nullable(Type.Number({ description: "0 to 100, if the provider reports it." })),
    videos: Type.Integer({ description: "How many videos are generated and stored." }),
    expected_cost_nano_usd: nullable(Type.Integer()),
    error: nullable(Type.Object({ kind: Type.String(), message: Type.String() })),
    receipt: Type.String(),
    created_at: Timestamp,
    next_poll_at: nullable(Timestamp),
    ended_at: nullable(Timestamp),
    expires_at: nullable(Timestamp),
  },
  { title: "OperationItem" },
);

export type OperationItem = Static<typeof OperationItem>;
