import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

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
    tools: nullable(Type.Record(Type.String(), Type.Integer(), { description: "Uses of other hosted tools." })),
  },
  { title: "UsageAmounts", description: "Tokens, images, seconds and the like; null for what is not known." },
);

const sums = {
  calls: Type.Integer(),
  failures: Type.Integer({ description: "A client that disconnected is not one." }),
  usage: UsageAmounts,
  cost_nano_usd: Type.Integer(),
  cost_usd: Type.Number(),
};

const UsageRow = Type.Object(
  {
    group: Type.String({ description: "The first of `groups`." }),
    groups: Type.Array(Type.String(), { description: "In the order of `by`." }),
    ...sums,
  },
  { title: "UsageRow" },
);

const UsageTotal = Type.Object(sums, {
  title: "UsageTotal",
  description: "Of every call that was asked about, once: also of those that are in no group, or in several.",
});

export const UsageAnswer = Type.Object(
  {
    data: Type.Array(UsageRow),
    total: UsageTotal,
    groups_overlap: Type.Boolean({
      description: "A call may be in several groups, or in none: their sum is not the total. So it is by tag.",
    }),
    groups_left_out: Type.Boolean({
      description: "There may be more groups than are sent: their sum is then less than the total.",
    }),
    unpriced: Type.Array(Type.String(), {
      description:
        "What was used since `from` without a known price, in this project or in all: its cost is in no sum.",
    }),
  },
  { title: "UsageAnswer" },
);

export type UsageRow = Static<typeof UsageRow>;
export type UsageAnswer = Static<typeof UsageAnswer>;
export type UsageAmounts = Static<typeof UsageAmounts>;
