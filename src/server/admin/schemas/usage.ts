import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

export /** Unknown values are null, never 0. */
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
  { title: "UsageAmounts", description: "Tokens, images, seconds and so on; null if unknown." },
);

const sums = {
  calls: Type.Integer(),
  failures: Type.Integer({ description: "Client disconnects do not count." }),
  usage: UsageAmounts,
  cost_nano_usd: Type.Integer(),
  cost_usd: Type.Number(),
};

const UsageRow = Type.Object(
  {
    group: Type.String({ description: "The first of `groups`." }),
    groups: Type.Array(Type.String(), { description: "In the order of `by`." }),
    ...sums,
    previous: Type.Optional(
      nullable(
        Type.Object(sums, { description: "With `compare=previous`; null if there may be more groups than were read." }),
      ),
    ),
  },
  { title: "UsageRow" },
);

const UsageTotal = Type.Object(sums, {
  title: "UsageTotal",
  description: "The total of all matching calls, each counted once, even if they are in several groups or in none.",
});

export const UsageAnswer = Type.Object(
  {
    data: Type.Array(UsageRow),
    total: UsageTotal,
    previous: Type.Optional(
      Type.Object(
        { from: Type.String(), to: Type.String(), total: UsageTotal },
        { description: "The period before, with `compare=previous`." },
      ),
    ),
    groups_overlap: Type.Boolean({
      description:
        "A call may be in several groups, or in none, so the groups do not add up to the total. This is the case by tag.",
    }),
    groups_left_out: Type.Boolean({
      description: "There may be more groups than are returned; then they add up to less than the total.",
    }),
    unpriced: Type.Array(Type.String(), {
      description: "Use without a known price since `from`, in this project or in all. No sum includes its cost.",
    }),
  },
  { title: "UsageAnswer" },
);

export type UsageRow = Static<typeof UsageRow>;
export type UsageAnswer = Static<typeof UsageAnswer>;
export type UsageAmounts = Static<typeof UsageAmounts>;
