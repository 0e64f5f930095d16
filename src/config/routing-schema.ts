import type { Static } from "typebox";
import { Type } from "../base/type.ts";
import { FACTORS, ROUTING_TYPES } from "../canon/preference.ts";

const closed = { additionalProperties: false };
const REGION = "^[a-z][a-z0-9-]{0,31}$";
const Count = Type.Integer({ minimum: 1 });
/** One day, longer than any call. */
const Milliseconds = Type.Integer({ minimum: 1, maximum: 86_400_000 });

/** The traits of an offer that calls require. */
const RequireFile = Type.Object(
  {
    retention: Type.Optional(
      Type.String({ pattern: "^(zero|[1-9]\\d{0,3}d)$", description: 'zero, or a number of days such as "30d"' }),
    ),
    region: Type.Optional(Type.String({ pattern: REGION, description: "a region such as eu, in lower case" })),
  },
  closed,
);

/** What the operator states about the offers of a provider, or about one offer. */
export const TraitsFile = Type.Object(
  {
    retention: RequireFile.properties.retention,
    region: Type.Optional(
      Type.Union([RequireFile.properties.region, Type.Array(Type.String({ pattern: REGION }), { minItems: 1 })], {
        description: "a region such as eu, in lower case, or a list of them",
      }),
    ),
  },
  closed,
);

const calls = {
  type: Type.Optional(Type.Enum([...ROUTING_TYPES])),
  primary_factor: Type.Optional(Type.Enum([...FACTORS])),
  fallback: Type.Optional(
    Type.Union([Type.Boolean(), Type.String({ minLength: 1 })], {
      description: "true, false, the name of a provider or the id of a model",
    }),
  ),
  survive: Type.Optional(Type.Boolean()),
  hedge: Type.Optional(Type.Boolean()),
  deadline_ms: Type.Optional(Milliseconds),
  max_attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  sticky: Type.Optional(Type.Enum(["prompt_cache", "off"])),
  require: Type.Optional(RequireFile),
};

/** How the calls of one key are served. */
export const KeyRoutingFile = Type.Object(calls, closed);

export const BreakerFile = Type.Object(
  {
    failures: Type.Optional(Count),
    window_ms: Type.Optional(Milliseconds),
    open_ms: Type.Optional(Milliseconds),
  },
  closed,
);

/** `providers.X.max_concurrent` and `routing.max_concurrent`. */
export const MaxConcurrent = Type.Integer({ minimum: 1, maximum: 1_000_000 });

/** The section `routing`. */
export const RoutingFile = Type.Object(
  {
    ...calls,
    breaker: Type.Optional(BreakerFile),
    max_concurrent: Type.Optional(MaxConcurrent),
    max_queue: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    queue_ms: Type.Optional(Milliseconds),
  },
  closed,
);

export type KeyRoutingFile = Static<typeof KeyRoutingFile>;
export type RoutingFile = Static<typeof RoutingFile>;
