import type { Static } from "typebox";
import { Type } from "../../base/type.ts";
import { TOOL_UNITS } from "../../canon/billable.ts";
import { LIVE_DIALECT_NAMES, UPSTREAM_DIALECT_NAMES } from "../../canon/dialect-name.ts";
import { TraitsFile } from "../routing-schema.ts";
import { closed, Text, UpstreamDialect } from "./fields.ts";

const Tokens = Type.Integer({ minimum: 1 });
const OfferDialect = Type.Enum([...UPSTREAM_DIALECT_NAMES, ...LIVE_DIALECT_NAMES]);

const Day = Type.String({ format: "day", description: "a date in the form YYYY-MM-DD" });
const Bound = Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.Null()]));
const TokenRange = Type.Optional(
  Type.Object({ unit: Type.Enum(["kTokens"]), gte: Bound, gt: Bound, lte: Bound, lt: Bound }, closed),
);
const Price = Type.Optional(
  Type.Array(
    Type.Object(
      {
        value: Type.Number({ minimum: 0 }),
        unit: Type.Enum(["perMTokens", "perCount", "perSecond", "perMCharacters", "perMTokenHours"]),
        currency: Type.Enum(["USD"]),
        from: Type.Optional(Day),
        resolution: Type.Optional(
          Type.String({ pattern: "^[1-9]\\d*[pPkK]$", description: "a resolution such as 720p, 1080p, 2K or 4K" }),
        ),
        conditions: Type.Optional(Type.Object({ prompt_tokens: TokenRange, completion_tokens: TokenRange }, closed)),
      },
      closed,
    ),
  ),
);
const Pricings = Type.Object(
  {
    prompt: Price,
    completion: Price,
    input_cache_read: Price,
    input_cache_write_5_min: Price,
    input_cache_write_1_h: Price,
    input_cache_write: Price,
    web_search: Price,
    internal_reasoning: Price,
    video: Price,
    image: Price,
    audio: Price,
    audio_and_video: Price,
    image_input: Price,
    audio_output: Price,
    characters: Price,
    search_unit: Price,
    cache_storage: Price,
    audio_cache_read: Price,
    image_cache_read: Price,
  },
  closed,
);

/** What a provider charges for hosted tools. */
const ToolPrices = Type.Array(
  Type.Object(
    {
      name: Text,
      unit: Type.Enum(TOOL_UNITS),
      usd: Type.Number({ minimum: 0, maximum: 1_000_000 }),
      source: Type.Optional(Text),
      date: Type.Optional(Day),
    },
    closed,
  ),
);

const Modalities = Type.Array(
  Type.Enum(["text", "image", "video", "audio", "file", "embeddings", "rerank", "transcription", "moderation"]),
  {
    minItems: 1,
  },
);
const Quality = Type.Integer({ minimum: 1, maximum: 10 });

const OfferFile = Type.Object(
  {
    provider: Text,
    model: Text,
    pricings: Type.Optional(Pricings),
    tools: Type.Optional(ToolPrices),
    context_length: Type.Optional(Tokens),
    max_output_tokens: Type.Optional(Tokens),
    quality: Type.Optional(Quality),
    weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
    retires_on: Type.Optional(Day),
    prefill: Type.Optional(Type.Boolean()),
    dialect: Type.Optional(OfferDialect),
    tools_dialect: Type.Optional(UpstreamDialect),
    traits: Type.Optional(TraitsFile),
  },
  closed,
);

export const ModelFile = Type.Object(
  {
    id: Type.String({ pattern: "^[^/\\s]+/[^/\\s]+$", description: "<provider>/<model_name> with exactly one slash" }),
    display_name: Type.Optional(Text),
    description: Type.Optional(Text),
    created: Type.Optional(Day),
    context_length: Type.Optional(Tokens),
    max_output_tokens: Type.Optional(Tokens),
    input_modalities: Type.Optional(Modalities),
    output_modalities: Type.Optional(Modalities),
    reasoning: Type.Optional(Type.Boolean()),
    quality: Type.Optional(Quality),
    pricings: Type.Optional(Pricings),
    price_multiples: Type.Optional(Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0 }))),
    tools: Type.Optional(ToolPrices),
    offers: Type.Optional(Type.Array(OfferFile)),
  },
  closed,
);

export type ModelFile = Static<typeof ModelFile>;
