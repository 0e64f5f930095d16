import { Type } from "../../../base/type.ts";
import { anyOtherKind, openObject } from "../../reading/schema-builders.ts";

const mime_type = Type.Optional(Type.String({ minLength: 1 }));
const data = Type.Optional(Type.String({ description: "Base64." }));
const uri = Type.Optional(Type.String({ minLength: 1, description: "A public URL, or the URI of an uploaded file." }));
const resolution = Type.Optional(Type.String({ description: "`low`, `medium`, `high` or `ultra_high`." }));

const Text = Type.Object(
  {
    type: Type.Literal("text"),
    text: Type.String(),
    annotations: Type.Optional(Type.Array(openObject())),
  },
  { title: "InteractionsText" },
);

const Image = Type.Object(
  { type: Type.Literal("image"), data, uri, mime_type, resolution },
  { title: "InteractionsImage" },
);

const Audio = Type.Object(
  {
    type: Type.Literal("audio"),
    data,
    uri,
    mime_type,
    channels: Type.Optional(Type.Integer({ minimum: 1 })),
    sample_rate: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { title: "InteractionsAudio" },
);

const Document = Type.Object(
  { type: Type.Literal("document"), data, uri, mime_type },
  { title: "InteractionsDocument" },
);

const Video = Type.Object(
  {
    type: Type.Literal("video"),
    data,
    uri,
    mime_type,
    resolution,
    name: Type.Optional(Type.String()),
    processing: Type.Optional(Type.Union([Type.String(), openObject("Which section of the video to look at.")])),
  },
  { title: "InteractionsVideo" },
);

/** The types of content. A list that starts with one of them is a list of content rather than of steps. */
export const CONTENT_TYPES = ["text", "image", "audio", "document", "video"] as const;

/** Content of a user, of the model, or of a function's result. */
export const LISTED_CONTENT = [Text, Image, Audio, Document, Video] as const;

export const Content = Type.Union([...LISTED_CONTENT, anyOtherKind(CONTENT_TYPES)], { title: "InteractionsContent" });
