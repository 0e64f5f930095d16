import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

export const Act = Type.Object(
  {
    id: Type.String(),
    at: Timestamp,
    who: Type.String({ description: "`operator:<name>`, `key:<id>`, `command line` or `gateway`." }),
    address: nullable(Type.String()),
    act: Type.String({ description: "For example `key.create`." }),
    target: Type.String({ description: "The id of the object." }),
    project: nullable(Type.String()),
    before: Type.Unknown({ description: "The changed fields before the act; null if there are none." }),
    after: Type.Unknown({ description: "The changed fields after the act; secrets are `[secret]`." }),
  },
  { title: "Act" },
);

export type Act = Static<typeof Act>;
