import type { Static } from "typebox";
import { DEFAULT_OVERLAP_SECONDS } from "../../../access/keys.ts";
import { BUDGET_WINDOWS } from "../../../access/spend-meter.ts";
import { Type } from "../../../base/type.ts";
import { PROTOCOL_NAMES } from "../../../canon/dialect-name.ts";
import { SHARING } from "../../../canon/ownership.ts";
import { MAX_TAGS, TAG_PATTERN } from "../../../canon/tags.ts";
import { nullable, openObject } from "../../../dialects/reading/schema-builders.ts";
import { KEY_STATES } from "../keys/key-state.ts";
import { dataAnswer, pageAnswer, Timestamp } from "./answers.ts";
import { Billing } from "./billing.ts";
import { PART_FIELDS, PART_UPDATES, PART_VIEWS } from "./part-limits.ts";
import { SpentMoney } from "./spent.ts";

const Name = Type.String({ minLength: 1, maxLength: 100 });
const Models = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100 });
const Protocols = Type.Array(Type.Enum([...PROTOCOL_NAMES]), { minItems: 1 });
const Expiry = Type.String({ maxLength: 40, description: "A date such as 2027-01-31, or a time." });
const Networks = Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
  minItems: 1,
  maxItems: 100,
  description: "Networks that calls may come from, such as 10.0.0.0/8.",
});
const Scopes = Type.Array(Type.String({ maxLength: 50 }), { maxItems: 10, description: "Empty, or `keys:create`." });
const Tags = Type.Array(Type.String({ pattern: TAG_PATTERN }), {
  maxItems: MAX_TAGS,
  description: "Tags of its calls, such as team-a.",
});
const Limits = Type.Record(Type.String(), Type.Number(), { description: "For example requests_per_minute." });
const Capture = Type.Boolean({ description: "Whether the bodies of its calls are kept for a while. Default: false." });
const ProviderObjects = Type.Boolean({
  description: "Whether its requests may name objects in providers' accounts. Default: false.",
});
const Objects = Type.Enum([...SHARING], {
  description: "Who may see what it stores: its project, or only this key.",
});
const Routing = Type.Record(Type.String(), Type.Unknown(), { description: "How its calls are routed." });

export const KeyRequestBody = Type.Object(
  {
    name: Name,
    project: Type.Optional(Name),
    models: Type.Optional(Models),
    protocols: Type.Optional(Protocols),
    expires_at: Type.Optional(Expiry),
    limits: Type.Optional(Limits),
    ...PART_FIELDS,
    networks: Type.Optional(Networks),
    scopes: Type.Optional(Scopes),
    strict: Type.Optional(Type.Boolean()),
    capture: Type.Optional(Capture),
    provider_objects: Type.Optional(ProviderObjects),
    objects: Type.Optional(Objects),
    billing: Type.Optional(Billing),
    tags: Type.Optional(Tags),
    routing: Type.Optional(Routing),
  },
  { title: "KeyRequest" },
);

export const KeyUpdateBody = Type.Object(
  {
    name: Type.Optional(Name),
    models: Type.Optional(nullable(Models)),
    protocols: Type.Optional(nullable(Protocols)),
    expires_at: Type.Optional(nullable(Expiry)),
    limits: Type.Optional(Type.Record(Type.String(), nullable(Type.Number()))),
    ...PART_UPDATES,
    networks: Type.Optional(nullable(Networks)),
    scopes: Type.Optional(nullable(Scopes)),
    tags: Type.Optional(nullable(Tags)),
    strict: Type.Optional(Type.Boolean()),
    capture: Type.Optional(Capture),
    provider_objects: Type.Optional(ProviderObjects),
    objects: Type.Optional(nullable(Objects)),
    billing: Type.Optional(nullable(Billing)),
    routing: Type.Optional(Routing),
  },
  { title: "KeyUpdate" },
);

export const RotationRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({ minimum: 0, description: `Default: ${DEFAULT_OVERLAP_SECONDS} (24 hours).` }),
    ),
  },
  { title: "RotationRequest" },
);

const KeyBudget = Type.Object(
  {
    window: Type.Enum([...BUDGET_WINDOWS]),
    limit_nano_usd: Type.Integer(),
    spent_nano_usd: Type.Integer(),
    used_percent: Type.Integer(),
    forecast_nano_usd: nullable(
      Type.Integer({
        description: "At the end of the window if spending continues at this rate; null in its first twentieth.",
      }),
    ),
    exceeds_at: nullable(Type.String({ description: "When it is used up at this rate, if before the end." })),
    ends_at: nullable(Timestamp),
  },
  { title: "KeyBudget" },
);

const keyFields = {
  id: Type.String(),
  from: Type.Enum(["file", "storage"], { description: "`file`: change it in the configuration file." }),
  name: Type.String(),
  project: Type.String(),
  hint: Type.String({ description: "The last characters of the key." }),
  models: Type.Array(Type.String()),
  protocols: nullable(Type.Array(Type.String())),
  limits: Type.Record(Type.String(), Type.Number()),
  ...PART_VIEWS,
  strict: Type.Boolean(),
  capture: Capture,
  provider_objects: ProviderObjects,
  objects: nullable(Objects),
  billing: Billing,
  routing: openObject("Settings that differ from the gateway's."),
  networks: nullable(Type.Array(Type.String())),
  scopes: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  expires_at: nullable(Timestamp),
  created_at: nullable(Timestamp),
  made_by: nullable(Type.String()),
  revoked_at: nullable(Timestamp),
  rotated_at: nullable(Timestamp),
  previous_until: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
  spent_nano_usd: Type.Optional(SpentMoney),
};

const Key = Type.Object(keyFields, { title: "Key" });

const listedFields = {
  ...keyFields,
  spent_nano_usd: SpentMoney,
  state: Type.Enum([...KEY_STATES]),
  budgets: Type.Array(KeyBudget, { description: "Of the key itself; its project and the gateway may have others." }),
};

const ListedKey = Type.Object(listedFields, { title: "ListedKey" });

const ShownKey = Type.Object(
  {
    ...listedFields,
    last_24h: Type.Object(
      {
        calls: Type.Integer(),
        failures: Type.Integer({ description: "Client disconnects do not count." }),
        refusals: Type.Integer({ description: "Requests that were refused before they became calls." }),
      },
      { description: "Calls of the last 24 hours, from the start of an hour." },
    ),
  },
  { title: "ShownKey" },
);

const secret = {
  id: Type.String(),
  key: Type.String({ description: "Shown once." }),
  hint: Type.String(),
};

export const KeyListAnswer = pageAnswer("KeyList", ListedKey);
export const ShownKeyAnswer = dataAnswer("ShownKeyAnswer", ShownKey);
export const KeyAnswer = dataAnswer("KeyAnswer", Key);
export const CreatedKeyAnswer = dataAnswer("CreatedKey", Type.Object(secret));
export const RotatedKeyAnswer = dataAnswer("RotatedKey", Type.Object({ ...secret, previous_until: Timestamp }));

export type Key = Static<typeof Key>;
export type ListedKey = Static<typeof ListedKey>;
export type ShownKey = Static<typeof ShownKey>;
export type CreatedKey = Static<typeof CreatedKeyAnswer>["data"];
export type RotatedKey = Static<typeof RotatedKeyAnswer>["data"];
