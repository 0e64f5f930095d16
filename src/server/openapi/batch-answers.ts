import { Type } from "../../base/type.ts";
import { BATCH_STATES } from "../../batches/batch.ts";

const ChatBatch = Type.Object(
  {
    id: Type.String({ pattern: "^batch_" }),
    object: Type.Literal("batch"),
    endpoint: Type.String(),
    status: Type.Enum([...BATCH_STATES]),
    completion_window: Type.String(),
    created_at: Type.Integer(),
    request_counts: Type.Object({ total: Type.Integer(), completed: Type.Integer(), failed: Type.Integer() }),
  },
  { title: "ChatBatch" },
);

const MessageBatch = Type.Object(
  {
    id: Type.String({ pattern: "^msgbatch_" }),
    type: Type.Literal("message_batch"),
    processing_status: Type.Enum(["in_progress", "canceling", "ended"]),
    request_counts: Type.Record(Type.String(), Type.Integer()),
    results_url: Type.Union([Type.String(), Type.Null()]),
  },
  { title: "MessageBatch" },
);

export const GenaiBatchAnswer = Type.Object(
  {
    name: Type.String({ pattern: "^batches/" }),
    metadata: Type.Object({ state: Type.String(), createTime: Type.String({ format: "date-time" }) }),
    done: Type.Optional(Type.Boolean()),
  },
  { title: "GenaiBatch" },
);

/** In the form of the client's protocol. */
export const BatchAnswer = Type.Union([ChatBatch, MessageBatch], { title: "Batch" });

export const BatchListAnswer = Type.Object(
  { data: Type.Array(BatchAnswer), has_more: Type.Boolean() },
  { title: "BatchList" },
);
