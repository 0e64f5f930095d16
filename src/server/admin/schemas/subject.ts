import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

const Named = {
  id: Type.String({ description: "Replaces a key's id in receipts and usage." }),
  issuer: Type.String(),
  subject: Type.String({ description: "The `sub` claim." }),
};

export const SubjectItem = Type.Object({
  ...Named,
  project: nullable(Type.String({ description: "Of the last token." })),
  name: nullable(Type.String({ description: "The user claim of the last token, or its subject." })),
  created_at: Timestamp,
  used_at: nullable(Timestamp),
  revoked_until: nullable(Type.String({ description: "Tokens issued up to this time are refused." })),
  spent_nano_usd: Type.Object({ day: Type.Number(), month: Type.Number(), total: Type.Number() }),
});

export type TokenSubject = Static<typeof SubjectItem>;

export const SubjectRequest = Type.Object(
  {
    issuer: Type.String({ minLength: 1, maxLength: 2_000 }),
    subject: Type.String({ minLength: 1, maxLength: 1_024 }),
  },
  { title: "SubjectRequest" },
);

export const RevokedSubject = Type.Object({
  ...Named,
  revoked_until: Timestamp,
  sessions: Type.Integer({ description: "Sessions in the console that were ended." }),
});
