import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { Timestamp } from "./answers.ts";

export const SessionItem = Type.Object(
  {
    id: Type.String({ description: "As in the receipts of its turns." }),
    key: Type.String({ description: "The id of its key." }),
    project: Type.String(),
    protocol: Type.String(),
    opened_at: Timestamp,
    turns: Type.Integer({ description: "Turns that were begun." }),
    running: Type.Integer({ description: "Those of them that run." }),
    instance: Type.String({ description: "The process that serves it." }),
  },
  { title: "SessionItem" },
);

export type SessionItem = Static<typeof SessionItem>;
