import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { OBJECT_KINDS, SHARING } from "../../../canon/ownership.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Timestamp } from "./answers.ts";

export const ObjectItem = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum([...OBJECT_KINDS]),
    state: Type.String({ description: "In the terms of its kind." }),
    name: nullable(Type.String({ description: "The name of a file or a cache." })),
    type: nullable(Type.String({ description: "The media type of a file." })),
    model: nullable(Type.String({ description: "The model of a cache." })),
    tokens: nullable(Type.Integer({ description: "How much a cache stores." })),
    cost_usd: nullable(Type.Number({ description: "What the storage of a cache has cost since its last bill." })),
    providers: Type.Array(Type.String(), { description: "The providers that have a copy." }),
    purpose: nullable(Type.String()),
    bytes: Type.Integer(),
    project: Type.String(),
    key: Type.String({ description: "The id of the key that created it." }),
    objects: Type.Enum([...SHARING], { description: "Who can use it: its project, or only that key." }),
    created_at: Timestamp,
    expires_at: nullable(Timestamp),
  },
  { title: "ObjectItem" },
);

export type ObjectItem = Static<typeof ObjectItem>;

const DeletedObject = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum(["response", ...OBJECT_KINDS]),
    project: Type.String(),
    key: nullable(Type.String({ description: "The id of the key that created it." })),
    objects: Type.Enum([...SHARING], { description: "Who could see it: its project, or only that key." }),
  },
  { title: "DeletedObject" },
);

export const DeletedObjectAnswer = dataAnswer("DeletedObjectAnswer", DeletedObject);
