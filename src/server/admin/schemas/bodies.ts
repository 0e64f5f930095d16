import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { SHOWN_TYPES } from "../../../capture/kept-media.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Timestamp } from "./answers.ts";

const Body = Type.Object(
  {
    text: Type.String({ description: "Media are replaced by their type and size, credentials by `[secret]`." }),
    bytes: Type.Integer({ description: "Size of the body before anything was replaced or cut." }),
    cut: Type.Boolean({ description: "Its end is missing." }),
  },
  { title: "CapturedBody" },
);

const Medium = Type.Object(
  {
    type: Type.Enum(SHOWN_TYPES, { description: "Detected from its bytes, whatever type its sender declares." }),
    bytes: Type.Integer(),
    data: Type.String({ description: "In base64." }),
  },
  { title: "CapturedMedium" },
);

const Bodies = Type.Object(
  {
    receipt: Type.String(),
    project: Type.String(),
    key: Type.String(),
    created_at: Timestamp,
    expires_at: Timestamp,
    client_request: nullable(Body),
    provider_request: nullable(Body),
    provider_answer: nullable(Body),
    client_answer: nullable(Body),
    media: Type.Array(Medium, {
      description:
        "Images and audio, which the bodies refer to as `medium 1` and so on. Empty unless `capture.max_media_kb` is set.",
    }),
  },
  { title: "CapturedBodies" },
);

export const BodiesAnswer = dataAnswer("CapturedBodiesAnswer", Bodies);

export type CapturedBody = Static<typeof Body>;
export type CapturedMedium = Static<typeof Medium>;
export type CapturedBodies = Static<typeof Bodies>;
