import type { Static } from "typebox";
import { Type } from "../base/type.ts";
import { LIVE_DIALECT_NAMES, UPSTREAM_DIALECT_NAMES } from "../canon/dialect-name.ts";
import { EFFORTS } from "../canon/reasoning.ts";
import { MODALITIES, MODEL_KINDS, OWN_PRICE_NAMES, PRICE_NAMES } from "./model.ts";

const closed = { additionalProperties: false };
const Bound = Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.Null()]));
const TokenRange = Type.Object(
  { unit: Type.Literal("kTokens"), gte: Bound, gt: Bound, lte: Bound, lt: Bound },
  { ...closed, minProperties: 2 },
);
const Day = Type.String({ pattern: "^20\\d\\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$" });
const PriceItem = Type.Object(
  {
    value: Type.Number({ minimum: 0 }),
    unit: Type.Enum(["perMTokens", "perCount", "perSecond", "perMCharacters", "perMTokenHours"]),
    currency: Type.Literal("USD"),
    from: Type.Optional(Day),
    resolution: Type.Optional(Type.String({ pattern: "^[1-9]\\d*[pkK]$" })),
    conditions: Type.Optional(
      Type.Object(
        { prompt_tokens: Type.Optional(TokenRange), completion_tokens: Type.Optional(TokenRange) },
        { ...closed, minProperties: 1 },
      ),
    ),
  },
  closed,
);
const Tokens = Type.Integer({ minimum: 1 });
const Modalities = Type.Array(Type.Enum(MODALITIES), { minItems: 1, uniqueItems: true });
const Flag = Type.Optional(Type.Boolean());

/** One entry of models.json. */
export const ModelEntry = Type.Object(
  {
    id: Type.String({ pattern: "^[^/\\s]+/[^/\\s]+$" }),
    display_name: Type.String({ minLength: 1 }),
    kind: Type.Enum([...MODEL_KINDS]),
    quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    upstream_model: Type.String({ minLength: 1 }),
    created: Type.Optional(Day),
    retires_on: Type.Optional(Day),
    /** Not sooner than this day. */
    retires_after: Type.Optional(Day),
    replaced_by: Type.Optional(Type.String({ pattern: "^[^/\\s]+/[^/\\s]+$" })),
    /** Who gives that day, and when it was read. A vendor's own page counts for more than a map of all vendors. */
    retirement: Type.Optional(Type.Object({ source: Type.String({ minLength: 1 }), date: Day }, closed)),
    context_length: Type.Optional(Tokens),
    max_output_tokens: Type.Optional(Tokens),
    input_modalities: Modalities,
    output_modalities: Modalities,
    reasoning: Type.Boolean(),
    /** The only one in which its publisher serves it, and the one that gives clients of others the most. */
    dialect: Type.Optional(Type.Enum([...UPSTREAM_DIALECT_NAMES, ...LIVE_DIALECT_NAMES])),
    best_dialect: Type.Optional(Type.Enum(UPSTREAM_DIALECT_NAMES)),
    tools_dialect: Type.Optional(Type.Enum(UPSTREAM_DIALECT_NAMES)),
    cache_breakpoints: Flag,
    tool_search: Flag,
    compaction: Flag,
    reasoning_form: Type.Optional(Type.Enum(["effort", "budget", "level", "adaptive"])),
    efforts: Type.Optional(Type.Array(Type.Enum(EFFORTS), { uniqueItems: true })),
    budget: Type.Optional(Type.Object({ min: Tokens, max: Tokens, off: Type.Boolean() }, closed)),
    rejects_sampling: Flag,
    rejects_penalties: Flag,
    rejects_forced_tools: Flag,
    binds_thinking: Flag,
    rejects_stop: Flag,
    demands_signatures: Flag,
    media_in_tool_results: Flag,
    structured_output: Flag,
    schema_beside_tools: Flag,
    prefill: Flag,
    system_messages: Flag,
    price_multiples: Type.Optional(Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0 }))),
    price_note: Type.Optional(Type.String({ minLength: 1 })),
    /** Where it is not the day of the whole file. */
    prices_as_of: Type.Optional(Day),
    pricings: Type.Partial(
      Type.Record(Type.Enum([...PRICE_NAMES, ...OWN_PRICE_NAMES]), Type.Array(PriceItem, { minItems: 1 })),
      closed,
    ),
  },
  closed,
);

/** The whole of models.json. */
export const ModelsFile = Type.Object(
  {
    about: Type.Object(
      { prices_as_of: Day, units: Type.String(), quality: Type.String(), sources: Type.Array(Type.String()) },
      closed,
    ),
    models: Type.Array(ModelEntry),
  },
  closed,
);

export type ModelEntry = Static<typeof ModelEntry>;
