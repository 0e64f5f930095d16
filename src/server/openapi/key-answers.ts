import { KEY_SCOPES } from "../../access/key-checks.ts";
import { LIMIT_WIRE_NAMES } from "../../access/limits.ts";
import { Type } from "../../base/type.ts";
import { PROTOCOL_NAMES } from "../../canon/dialect-name.ts";
import { SHARING } from "../../canon/ownership.ts";
import { MAX_TAGS, TAG_PATTERN } from "../../canon/tags.ts";
import { nullable, openObject } from "../../dialects/reading/schema-builders.ts";

const Time = Type.String({ format: "date-time" });
const LimitValues = Type.Object(
  Object.fromEntries(LIMIT_WIRE_NAMES.map((name) => [name, Type.Optional(Type.Number({ minimum: 0 }))])),
);

export const ChildKeyRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    project: Type.Optional(Type.String({ description: "The parent key's; no other is allowed." })),
    models: Type.Optional(Type.Array(Type.String(), { description: "Default: the parent key's." })),
    protocols: Type.Optional(Type.Array(Type.Enum([...PROTOCOL_NAMES]))),
    expires_at: Type.Optional(Type.String({ description: "A date or a time, not later than the parent key's." })),
    limits: Type.Optional(LimitValues),
    networks: Type.Optional(
      Type.Array(Type.String({ description: "For example 10.0.0.0/8, within the parent key's." })),
    ),
    scopes: Type.Optional(Type.Array(Type.Enum([...KEY_SCOPES]), { maxItems: 0 })),
    strict: Type.Optional(Type.Boolean()),
    provider_objects: Type.Optional(Type.Boolean({ description: "Only allowed if the parent key has it." })),
    objects: Type.Optional(
      Type.Enum([...SHARING], { description: "Who may see what it stores. Default: private, only this key." }),
    ),
    tags: Type.Optional(
      Type.Array(Type.String({ pattern: TAG_PATTERN }), {
        maxItems: MAX_TAGS,
        description: "Tags of its calls; the parent key's tags are added.",
      }),
    ),
    routing: Type.Optional(openObject()),
  },
  { title: "ChildKeyRequest" },
);

const KEY = {
  id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  hint: Type.String({ description: "The last characters of its secret." }),
  models: Type.Array(Type.String()),
  protocols: nullable(Type.Array(Type.String())),
  limits: LimitValues,
  strict: Type.Boolean(),
  capture: Type.Boolean({ description: "The operator keeps the bodies of its calls for a while." }),
  provider_objects: Type.Boolean({ description: "Its requests may name objects in providers' accounts." }),
  objects: nullable(Type.Enum([...SHARING])),
  routing: openObject(),
  networks: nullable(Type.Array(Type.String())),
  scopes: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  expires_at: nullable(Time),
  created_at: nullable(Time),
  made_by: nullable(Type.String()),
  revoked_at: nullable(Time),
  rotated_at: nullable(Time),
  previous_until: nullable(Time),
  last_used_at: nullable(Time),
};

export const ApiKey = Type.Object({ data: Type.Object(KEY) }, { title: "ApiKeyAnswer" });
export const NewApiKey = Type.Object(
  { data: Type.Object({ ...KEY, key: Type.String({ description: "The secret, which is shown only here." }) }) },
  { title: "NewApiKeyAnswer" },
);
export const ApiKeyList = Type.Object({ data: Type.Array(Type.Object(KEY)) }, { title: "ApiKeyListAnswer" });
