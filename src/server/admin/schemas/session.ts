import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { ROLES } from "../../../canon/role.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

export const SessionAnswer = Type.Object(
  {
    data: Type.Object({
      operator: Type.String(),
      role: Type.Enum([...ROLES]),
      project: nullable(Type.String({ description: "The only project that this operator can access." })),
      csrf: nullable(
        Type.String({ description: "For the header x-trivium-csrf of every change; null without a session." }),
      ),
    }),
  },
  { title: "Session" },
);

export const LoginRequest = Type.Object(
  {
    secret: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    link: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: "The token of a login link that works once." }),
    ),
  },
  { title: "Login", description: "Send one of the two." },
);

export const LoginWaysAnswer = Type.Object(
  {
    data: Type.Object({
      secret: Type.Boolean(),
      oidc: nullable(
        Type.Object({
          issuer: Type.String(),
          available: Type.Boolean(),
          reason: nullable(Type.String({ description: "Why the issuer cannot be used at this moment." })),
        }),
      ),
    }),
  },
  { title: "LoginWays" },
);

/** A session in the list of open ones. */
export const OpenSession = Type.Object({
  id: Type.String(),
  operator: Type.String(),
  role: Type.Enum([...ROLES]),
  project: nullable(Type.String()),
  issuer: nullable(Type.String({ description: "Where the operator logged in; null for a secret." })),
  subject: nullable(Type.String()),
  address: nullable(Type.String()),
  created_at: Timestamp,
  used_at: Timestamp,
  expires_at: Type.String({ description: "When it ends if it is not used until then." }),
});

export type LoginWays = Static<typeof LoginWaysAnswer>["data"];
export type OpenSession = Static<typeof OpenSession>;
export type Session = Static<typeof SessionAnswer>["data"];
export type Login = Static<typeof LoginRequest>;
