import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { SHOWN_TYPES } from "../../../capture/kept-media.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Moment } from "./answers.ts";

const Body = Type.Object(
  {
    text: Type.String({ description: "Media are replaced by their type and size, credentials by `[secret]`." }),
    bytes: Type.Integer({ description: "Of the body itself, before anything was replaced or cut." }),
    cut: Type.Boolean({ description: "The end of it is missing." }),
  },
  { title: "CapturedBody" },
);

const Medium = Type.Object(
  {
    type: Type.Enum(SHOWN_TYPES, { description: "By its bytes, whatever its sender calls it." }),
    bytes: Type.Integer(),
    data: Type.String({ description: "As base64." }),
  },
  { title: "CapturedMedium" },
);

const Bodies = Type.Object(
  {
    receipt: Type.String(),
    project: Type.String(),
    key: Type.String(),
    created_at: Moment,
    expires_at: Moment,
    client_request: nullable(Body),
    provider_request: nullable(Body),
    provider_answer: nullable(Body),
    client_answer: nullable(Body),
    media: Type.Array(Medium, {
      description:
        "Images and sounds: the texts say `medium 1` of the first. Empty unless `capture.max_media_kb` is set.",
    }),
  },
  { title: "CapturedBodies" },
);

export const BodiesAnswer = dataAnswer("CapturedBodiesAnswer", Bodies);

export type CapturedBody = Static<typeof Body>;
export type CapturedMedium = Static<typeof Medium>;
export type CapturedBodies = Static<typeof Bodies>;
