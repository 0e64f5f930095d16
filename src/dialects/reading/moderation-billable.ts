import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { type Billable, MODERATION } from "../../canon/billable.ts";

/** Models that only judge content. Any other model has tokens that no usage reports. */
const JUDGES = /^(?:[\w-]+\/)?(?:omni|text)-moderation-/;

/** The moderation of a request and its response, which the host runs with a model that the request names; undefined if there is none. */
export function moderationBillable({ moderation }: JsonObject): Billable | undefined {
  if (!isObject(moderation)) return undefined;
  const model = stringAt(moderation, "model");
  const name = model === undefined || JUDGES.test(model) ? MODERATION : `${MODERATION}_by_model`;
  return { kind: "tool", name, path: MODERATION, crossesAs: name };
}

/** Whether a name under which something crosses to other dialects is that of a moderation. */
export const isModeration = (crossing: string): boolean => crossing.startsWith(MODERATION);
