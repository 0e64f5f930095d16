import type { Static } from "typebox";
import { Type } from "../../base/type.ts";
import { COMPLEXITIES, FACTORS, ROUTING_TYPES, TASK_TYPES } from "../../canon/preference.ts";
import { EXPECTED, openObject } from "./schema-builders.ts";

const quoted = (words: readonly string[]) => words.map((word) => `"${word}"`).join(", ");

/** Synonyms for types and factors that callers of other gateways use (choices 6). */
const TYPE_SYNONYMS = ["order", "latency", "price", "throughput"] as const;
const FACTOR_SYNONYMS = ["latency", "price", "throughput"] as const;

const members = {
  type: Type.Optional(
    Type.Enum([...ROUTING_TYPES, ...TYPE_SYNONYMS], { [EXPECTED]: `one of ${quoted(ROUTING_TYPES)}` }),
  ),
  primary_factor: Type.Optional(
    Type.Enum([...FACTORS, ...FACTOR_SYNONYMS], { [EXPECTED]: `one of ${quoted(FACTORS)}` }),
  ),
  providers: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  order: Type.Optional(Type.Array(Type.String(), { maxItems: 100, description: "The same as `providers`." })),
  fallback: Type.Optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Boolean()], {
      [EXPECTED]: 'the string "true", "false", a provider name or a model id',
    }),
  ),
};

/** The contract's `provider` (contract 2.12). */
export const ProviderRouting = Type.Object(
  {
    ...members,
    routing: Type.Optional(Type.Object(members, { description: "The same object, nested." })),
  },
  { title: "ProviderRouting" },
);
export type ProviderRouting = Static<typeof ProviderRouting>;

/** The contract's `model_routing_config` (contract 2.12). */
export const ModelRouting = Type.Object(
  {
    available_models: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 1000 })),
    preference: Type.Optional(Type.String({ minLength: 1 })),
    task_info: Type.Optional(
      Type.Object({
        task_type: Type.Optional(Type.Enum([...TASK_TYPES])),
        complexity: Type.Optional(Type.Enum([...COMPLEXITIES])),
        additional_properties: Type.Optional(openObject()),
      }),
    ),
    additional_properties: Type.Optional(openObject()),
  },
  { title: "ModelRouting" },
);
export type ModelRouting = Static<typeof ModelRouting>;

/** A day. No call takes longer. */
export const MAX_DEADLINE_MS = 86_400_000;

/** The gateway's own options for a call (choices 8). */
export const CallOptions = Type.Object(
  {
    survive: Type.Optional(Type.Boolean()),
    hedge: Type.Optional(Type.Boolean()),
    deadline_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DEADLINE_MS })),
    require: Type.Optional(
      Type.Object(
        { retention: Type.Optional(Type.String()), region: Type.Optional(Type.String()) },
        { description: "Traits that every offer must have, such as no retention of data." },
      ),
    ),
  },
  { title: "CallOptions" },
);
export type CallOptions = Static<typeof CallOptions>;

/** The fields addressed to the gateway itself, in every protocol. */
export const RoutingBody = Type.Object({
  provider: Type.Optional(ProviderRouting),
  model_routing_config: Type.Optional(ModelRouting),
  trivium: Type.Optional(CallOptions),
});
export type RoutingBody = Static<typeof RoutingBody>;
