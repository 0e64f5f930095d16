import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { BATCH_STATES } from "../../../batches/batch.ts";
import { SHARING } from "../../../canon/ownership.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

const lines = Type.Integer({ minimum: 0 });
const fileId = nullable(Type.String());

export const BatchItem = Type.Object(
  {
    id: Type.String({ description: "Clients of other protocols see another form of it; all forms are accepted." }),
    name: nullable(Type.String()),
    dialect: Type.Enum(["chat", "messages", "genai"], { description: "The protocol of the batch." }),
    mode: Type.Enum(["own", "native"], {
      description: "`own`: the gateway runs the lines as ordinary calls. `native`: a provider's batch API runs them.",
    }),
    provider: nullable(Type.String({ description: "The provider whose batch API runs it." })),
    state: Type.Enum([...BATCH_STATES]),
    endpoint: Type.String({ description: "Where its lines are sent." }),
    project: Type.String(),
    key: Type.String(),
    objects: Type.Enum([...SHARING], { description: "Who can use it: its project, or only that key." }),
    progress: Type.Object(
      {
        total: lines,
        done: lines,
        succeeded: lines,
        failed: lines,
        cancelled: lines,
        expired: lines,
        running: lines,
        waiting: lines,
      },
      { description: "Numbers of lines. `done` counts all that neither wait nor run." },
    ),
    cost_nano_usd: Type.Integer({ description: "Of the lines that have ended." }),
    held_nano_usd: Type.Integer({ description: "What is held against budgets for the lines that wait." }),
    input_file_id: nullable(Type.String({ description: "Null if the requests were sent inline." })),
    output_file_id: fileId,
    error_file_id: fileId,
    errors: Type.Array(
      Type.Object({ code: Type.String(), message: Type.String(), line: nullable(Type.Integer({ minimum: 1 })) }),
      { description: "Why it failed as a whole." },
    ),
    completion_window: Type.String(),
    created_at: Timestamp,
    started_at: nullable(Timestamp),
    ended_at: nullable(Timestamp),
    deadline_at: Type.String({ description: "In UTC, in ISO 8601. A batch that has not ended by then expires." }),
  },
  { title: "BatchItem" },
);

export type BatchItem = Static<typeof BatchItem>;
