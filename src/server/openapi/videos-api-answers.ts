import { Type } from "../../base/type.ts";
import { nullable } from "../../dialects/reading/schema-builders.ts";

const time = nullable(Type.Integer({ description: "In seconds since 1970." }));
const id = Type.String({ examples: ["video_8fJQ2m0vT4y1Zc7xLw3nRA"] });

/** A video job, as `openai` reads it. */
export const VideoObject = Type.Object(
  {
    id,
    object: Type.Literal("video"),
    model: Type.String(),
    status: Type.Enum(["queued", "in_progress", "completed", "failed"]),
    progress: Type.Integer({ minimum: 0, maximum: 100 }),
    created_at: time,
    completed_at: time,
    expires_at: time,
    prompt: nullable(Type.String({ description: "Always null: the gateway does not store prompts." })),
    size: nullable(Type.String({ examples: ["1280x720"], description: "Null if a first frame sets the shape." })),
    seconds: Type.String(),
    remixed_from_video_id: nullable(id),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  },
  { title: "Video" },
);

export const VideoList = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(VideoObject),
    first_id: nullable(id),
    last_id: nullable(id),
    has_more: Type.Boolean(),
  },
  { title: "VideoList" },
);

export const DeletedVideo = Type.Object(
  { id, object: Type.Literal("video.deleted"), deleted: Type.Boolean() },
  { title: "DeletedVideo" },
);
