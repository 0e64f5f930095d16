import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { ROLES } from "../../../canon/role.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

export const OperatorItem = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: Type.Enum([...ROLES]),
  project: nullable(Type.String({ description: "The only project that this operator can access." })),
  hint: Type.String({ description: "The last characters of the secret." }),
  created_at: Timestamp,
  revoked_at: nullable(Timestamp),
});

export type OperatorItem = Static<typeof OperatorItem>;
