import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Moment } from "./answers.ts";

export const Act = Type.Object(
  {
    id: Type.String(),
    at: Moment,
    who: Type.String({ description: "`operator:<name>`, `key:<id>`, `command line` or `gateway`." }),
    address: nullable(Type.String()),
    act: Type.String({ description: "Such as `key.create`." }),
    target: Type.String({ description: "The id of what it was done to." }),
    project: nullable(Type.String()),
    before: Type.Unknown({ description: "What changed, as it was; null where there is nothing." }),
    after: Type.Unknown({ description: "The same as it is since; secrets are `[secret]`." }),
  },
  { title: "Act" },
);

export type Act = Static<typeof Act>;
