import Type, { type Static } from "typebox";
import { nullable } from "../../../dialects/schema-builders.ts";

export /** What is not known is null, never 0. */
const amount = nullable(Type.Integer());

export const UsageAmounts = Type.Object(
  {
    input: amount,
    cache_read: amount,
    cache_write_5m: amount,
    cache_write_1h: amount,
    output: amount,
    reasoning: amount,
    image_input: amount,
    audio_input: amount,
    image_output: amount,
    audio_output: amount,
    images: amount,
    seconds: nullable(Type.Number()),
    characters: amount,
    searches: amount,
  },
  { title: "UsageAmounts", description: "Tokens, images, seconds and the like; null for what is not known." },
);

export const UsageRow = Type.Object(
  {
    group: Type.String({ description: "The first of `groups`." }),
    groups: Type.Array(Type.String(), { description: "In the order of `by`." }),
    calls: Type.Integer(),
    failures: Type.Integer({ description: "A client that disconnected is not one." }),
    usage: UsageAmounts,
    cost_nano_usd: Type.Integer(),
    cost_usd: Type.Number(),
  },
  { title: "UsageRow" },
);

export type UsageRow = Static<typeof UsageRow>;
export type UsageAmounts = Static<typeof UsageAmounts>;
