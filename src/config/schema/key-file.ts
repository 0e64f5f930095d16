import type { Static } from "typebox";
import { MAX_KEY_LENGTH, MIN_KEY_LENGTH } from "../../base/key-bounds.ts";
import { Type } from "../../base/type.ts";
import { UNPRICED_POLICIES } from "../../canon/billable.ts";
import { PROTOCOL_NAMES } from "../../canon/dialect-name.ts";
import { SHARING } from "../../canon/ownership.ts";
import { MAX_CACHE_MB, MAX_TTL_SECONDS } from "../../canon/settings/answer-cache-settings.ts";
import { MAX_TAG_LENGTH, MAX_TAGS, TAG_PATTERN } from "../../canon/tags.ts";
import { KeyRoutingFile } from "../routing-schema.ts";
import { closed, Text } from "./fields.ts";
import { EndUsersFile, LimitsFile, ModelPatternsFile, TagPatternsFile } from "./limits-file.ts";

const Protocol = Type.Enum(PROTOCOL_NAMES);
export const Network = Type.String({
  format: "network",
  description: "an IP address or a network such as 10.0.0.0/8 or 2001:db8::/32",
});

export const BillingFile = Type.Object({ unpriced: Type.Optional(Type.Enum(UNPRICED_POLICIES)) }, closed);

/** Responses of a key that answer equal requests. */
const AnswerCacheFile = Type.Object(
  {
    ttl_seconds: Type.Integer({ minimum: 1, maximum: MAX_TTL_SECONDS }),
    max_mb: Type.Integer({ minimum: 1, maximum: MAX_CACHE_MB }),
  },
  closed,
);

const Tag = Type.String({
  pattern: TAG_PATTERN,
  description: `1 to ${MAX_TAG_LENGTH} letters, digits and _ . : = / -, such as team-a`,
});

export const KeyFile = Type.Object(
  {
    name: Text,
    project: Type.Optional(Text),
    key: Type.String({
      pattern: `^[\\x21-\\x7e]{${MIN_KEY_LENGTH},${MAX_KEY_LENGTH}}$`,
      description: `${MIN_KEY_LENGTH} to ${MAX_KEY_LENGTH} visible ASCII characters without spaces, such as the output of "openssl rand -hex 24"`,
    }),
    models: Type.Optional(Type.Array(Text)),
    protocols: Type.Optional(Type.Array(Protocol, { minItems: 1 })),
    expires_at: Type.Optional(
      Type.String({
        format: "moment",
        description: "a date (YYYY-MM-DD) or a time with its zone (2027-01-31T12:00:00Z)",
      }),
    ),
    limits: Type.Optional(LimitsFile),
    end_users: Type.Optional(EndUsersFile),
    limits_by_model: Type.Optional(ModelPatternsFile),
    limits_by_tag: Type.Optional(TagPatternsFile),
    networks: Type.Optional(Type.Array(Network, { minItems: 1 })),
    scopes: Type.Optional(Type.Array(Type.Enum(["keys:create"]))),
    tags: Type.Optional(Type.Array(Tag, { minItems: 1, maxItems: MAX_TAGS })),
    strict: Type.Optional(Type.Boolean()),
    capture: Type.Optional(Type.Boolean()),
    provider_objects: Type.Optional(Type.Boolean()),
    objects: Type.Optional(Type.Enum([...SHARING])),
    billing: Type.Optional(BillingFile),
    cache: Type.Optional(AnswerCacheFile),
    routing: Type.Optional(KeyRoutingFile),
  },
  closed,
);

export type KeyFile = Static<typeof KeyFile>;
