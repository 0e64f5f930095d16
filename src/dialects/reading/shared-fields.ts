import type { JsonObject } from "../../base/json.ts";
import type { CanonCall, Extra } from "../../canon/call.ts";

/** Fields that two dialects of one family share, with the same names and meanings. */
const SHARED: ReadonlySet<string> = new Set([
  "prompt_cache_key",
  "prompt_cache_retention",
  "service_tier",
  "metadata",
  "moderation",
]);

/** The dialects of the family. */
const FAMILY: ReadonlySet<string> = new Set(["chat", "responses"]);

/** Whether a target of another dialect gets the terms that a request asks for. */
export const sharesTerms = (client: string, via: string, quirks: object): boolean =>
  client !== via && FAMILY.has(client) && FAMILY.has(via) && "accountFields" in quirks && quirks.accountFields === true;

const isShared = ({ keys: [name = "", ...deeper] }: Extra): boolean => deeper.length === 0 && SHARED.has(name);

/** The fields of a call that a target of the family accepts too, and the call without them. */
export function takeShared(call: CanonCall, from: string): { fields: JsonObject; rest: CanonCall } {
  if (call.dialect !== from || !call.extras.some(isShared)) return { fields: {}, rest: call };
  const fields = Object.fromEntries(call.extras.filter(isShared).map(({ keys: [name = ""], value }) => [name, value]));
  return { fields, rest: { ...call, extras: call.extras.filter((extra) => !isShared(extra)) } };
}
