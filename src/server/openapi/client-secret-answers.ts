import { Type } from "../../base/type.ts";

const Session = Type.Object(
  {
    type: Type.Optional(Type.Literal("realtime")),
    model: Type.String({ description: "The only model that the secret opens." }),
  },
  { additionalProperties: true, description: "Settings that hold from the beginning of each session." },
);

export const ClientSecretRequest = Type.Object(
  {
    expires_after: Type.Optional(
      Type.Object({
        anchor: Type.Optional(Type.Literal("created_at")),
        seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 600, description: "Default: 60." })),
      }),
    ),
    session: Session,
  },
  { title: "ClientSecretRequest" },
);

export const ClientSecret = Type.Object(
  {
    value: Type.String({ description: "The secret, which begins with ek_. Use it in place of a key." }),
    expires_at: Type.Integer({
      description: "In Unix seconds. No session can be opened afterwards; open ones continue.",
    }),
    session: Session,
  },
  { title: "ClientSecret" },
);
