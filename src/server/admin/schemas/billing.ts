import { Type } from "../../../base/type.ts";
import { UNPRICED_POLICIES } from "../../../canon/billable.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

/** `billing` of a key or a project. */
export const Billing = Type.Object(
  { unpriced: Type.Optional(nullable(Type.Enum(UNPRICED_POLICIES))) },
  {
    additionalProperties: false,
    description:
      "`unpriced`: whether requests for tools and terms without a known price are refused, or are allowed and marked.",
  },
);
