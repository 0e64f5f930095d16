import type { Static } from "typebox";
import { Type } from "../../base/type.ts";
import { SHARING } from "../../canon/ownership.ts";
import { ROLES } from "../../canon/role.ts";
import { ASYMMETRIC } from "../../canon/settings/signature-algorithms.ts";
import { Credential, closed, HttpUrl, Text } from "./fields.ts";
import { LimitsFile } from "./limits-file.ts";

/** Checked further by check-config.ts: https, or http on loopback. */
const IssuerUrl = Type.String({
  format: "http-url",
  description: "the issuer's URL as it is in its tokens: https, or http on loopback",
});

/** A claim of a token; one that begins with a slash is a JSON pointer. */
const Claim = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "the name of a claim, or a JSON pointer to one such as /realm_access/roles",
});

/** An issuer at which operators log in. */
export const OidcFile = Type.Object(
  {
    issuer: IssuerUrl,
    client_id: Text,
    client_secret: Credential,
    groups_claim: Type.Optional(Claim),
    scopes: Type.Optional(
      Type.Array(
        Type.String({ pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$", description: "a scope without spaces and quotes" }),
        { minItems: 1 },
      ),
    ),
    roles: Type.Array(Type.Object({ group: Text, role: Type.Enum([...ROLES]), project: Type.Optional(Text) }, closed), {
      minItems: 1,
    }),
  },
  closed,
);

/** An issuer whose tokens clients send in place of a key. */
export const TokenIssuerFile = Type.Object(
  {
    issuer: IssuerUrl,
    audience: Text,
    project: Type.Optional(Text),
    project_claim: Type.Optional(Claim),
    user_claim: Type.Optional(Claim),
    limits: Type.Optional(LimitsFile),
    models: Type.Optional(Type.Array(Text)),
    objects: Type.Optional(Type.Enum([...SHARING])),
    algorithms: Type.Optional(Type.Array(Type.Enum([...ASYMMETRIC, "HS256", "HS384", "HS512"]), { minItems: 1 })),
    secret: Type.Optional(
      Type.String({
        pattern: "^[\\x21-\\x7e]{32,1024}$",
        description: '32 to 1024 visible ASCII characters without spaces, such as the output of "openssl rand -hex 32"',
        writeOnly: true,
      }),
    ),
    jwks_url: Type.Optional(HttpUrl),
  },
  closed,
);

export type OidcFile = Static<typeof OidcFile>;
export type TokenIssuerFile = Static<typeof TokenIssuerFile>;
