import { UNPRICED_POLICIES, type UnpricedPolicy } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import type { JsonInput } from "./json-input.ts";

/** `billing` of a key or a project in JSON. In an update, `null` removes the setting. */
export function readBilling(input: JsonInput, changes: false): { unpriced?: UnpricedPolicy } | undefined;
export function readBilling(input: JsonInput, changes: true): { unpriced?: UnpricedPolicy | null } | undefined;
export function readBilling(input: JsonInput, changes: boolean): { unpriced?: UnpricedPolicy | null } | undefined {
  const given = input.isNull("billing") && changes ? { unpriced: null } : input.object("billing");
  if (given === undefined) return undefined;
  const other = Object.keys(given).find((name) => name !== "unpriced");
  if (other !== undefined) throw wrong(`billing.${other}`.slice(0, 80), "is not a setting; the only one is unpriced");
  const { unpriced } = given as { unpriced?: unknown };
  if (unpriced === undefined) return {};
  if (unpriced === null && changes) return { unpriced };
  const policy = UNPRICED_POLICIES.find((known) => known === unpriced);
  if (policy === undefined) throw wrong("billing.unpriced", `must be ${UNPRICED_POLICIES.join(" or ")}`);
  return { unpriced: policy };
}

const wrong = (path: string, why: string): GatewayError =>
  new GatewayError("invalid_request", `\`${path}\` ${why}.`, { path });
