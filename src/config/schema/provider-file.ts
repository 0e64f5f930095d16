import type { Static } from "typebox";
import { Type } from "../../base/type.ts";
import { BreakerFile, MaxConcurrent, TraitsFile } from "../routing-schema.ts";
import { Credential, closed, HttpUrl, Text, UpstreamDialect } from "./fields.ts";

const Milliseconds = Type.Integer({ minimum: 1, maximum: 3_600_000 });

/** If the file's content is given instead of its path, the message about the missing file must not show it (S10). */
const CredentialsFile = Type.String({
  pattern: "^(?!\\s*\\{).+$",
  description: "the path of a file",
  writeOnly: true,
});

/** Every field that some kind of provider takes. */
export const ProviderFile = Type.Object(
  {
    kind: Text,
    base_url: Type.Optional(HttpUrl),
    timeout_ms: Type.Optional(
      Type.Object(
        {
          first_byte: Type.Optional(Milliseconds),
          idle: Type.Optional(Milliseconds),
          content: Type.Optional(Milliseconds),
          total: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
        },
        closed,
      ),
    ),
    max_concurrent: Type.Optional(MaxConcurrent),
    breaker: Type.Optional(BreakerFile),
    trace_context: Type.Optional(Type.Boolean()),
    home: Type.Optional(Type.Boolean()),
    batch: Type.Optional(Type.Boolean()),
    traits: Type.Optional(TraitsFile),
    files: Type.Optional(Type.Boolean()),
    api_key: Type.Optional(Credential),
    dialects: Type.Optional(Type.Array(UpstreamDialect, { minItems: 1 })),
    project: Type.Optional(Text),
    location: Type.Optional(Text),
    credentials: Type.Optional(CredentialsFile),
    region: Type.Optional(Text),
    access_key_id: Type.Optional(Credential),
    secret_access_key: Type.Optional(Credential),
    session_token: Type.Optional(Credential),
    api_version: Type.Optional(Text),
    access_key: Type.Optional(Credential),
    secret_key: Type.Optional(Credential),
    secret_id: Type.Optional(Credential),
    organization: Type.Optional(Text),
  },
  closed,
);

/** What an entry of a provider's list of credentials has beyond the fields of its kind. */
export const CredentialFile = Type.Object(
  {
    label: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
        description:
          "up to 32 letters, digits, dots, dashes and underscores (it appears in receipts, so it must not be the key)",
      }),
    ),
    weight: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })),
  },
  closed,
);

type PlainProviderFile = Static<typeof ProviderFile>;
export type CredentialFile = Static<typeof CredentialFile> & Partial<PlainProviderFile>;
/** `credentials` is a file, or a list. */
export type ProviderFile = Omit<PlainProviderFile, "credentials"> & { credentials?: string | CredentialFile[] };
