import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

const Limits = Type.Record(Type.String(), Type.Number());
const Changes = Type.Record(Type.String(), nullable(Type.Number()));

const EndUsers = {
  description: "The same limits for each end user of its calls.",
};
const ByModel = {
  description: "Limits by model id, such as openai/gpt-*. All calls that match a pattern count together.",
};
const ByTag = { description: "Limits by tag, such as team:*. All calls that match a pattern count together." };

/** Of a new key or project. */
export const PART_FIELDS = {
  end_users: Type.Optional(
    Type.Object(
      {
        limits: Type.Optional(Limits),
        required: Type.Optional(
          Type.Boolean({ description: "Whether calls without an end user are refused. Default: false." }),
        ),
      },
      EndUsers,
    ),
  ),
  limits_by_model: Type.Optional(Type.Record(Type.String(), Limits, ByModel)),
  limits_by_tag: Type.Optional(Type.Record(Type.String(), Limits, ByTag)),
};

/** Of a change: `null` removes a limit, a pattern or all of them. */
export const PART_UPDATES = {
  end_users: Type.Optional(
    nullable(Type.Object({ limits: Type.Optional(Changes), required: Type.Optional(Type.Boolean()) }, EndUsers)),
  ),
  limits_by_model: Type.Optional(nullable(Type.Record(Type.String(), nullable(Changes), ByModel))),
  limits_by_tag: Type.Optional(nullable(Type.Record(Type.String(), nullable(Changes), ByTag))),
};

export const PART_VIEWS = {
  end_users: nullable(Type.Object({ limits: Limits, required: Type.Boolean() }, EndUsers)),
  limits_by_model: Type.Record(Type.String(), Limits, ByModel),
  limits_by_tag: Type.Record(Type.String(), Limits, ByTag),
};
