import { Type } from "../../../base/type.ts";
import { OBJECT_KINDS, SHARING } from "../../../canon/ownership.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer } from "./answers.ts";

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
