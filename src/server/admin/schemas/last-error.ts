import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

export const LastError = Type.Object(
  {
    kind: Type.String(),
    status: nullable(Type.Integer({ description: "The HTTP status of the provider's response." })),
    text: Type.String({ description: "The provider's own message, without the gateway's secrets." }),
    at: Timestamp,
  },
  { title: "LastError" },
);
