import { GatewayError } from "../canon/error.ts";

/** A field that the gateway itself rejects. The message is prefixed with the client's name of the field. */
export class FieldRefusal extends GatewayError {}

/**
 * Contract 2.1, 2.4, 8: a request that the model cannot fulfil is rejected, so that no client pays for something else. `field` is
 * the canonical name, which is translated to the client's.
 */
export function refuseField(field: string, problem: string): never {
  throw new FieldRefusal("invalid_request", problem, { path: field });
}

/** Refuses an option that the model does not have. */
export function refuseSetting(field: string, problem: string): never {
  throw new FieldRefusal("unsupported_parameter", problem, { path: field });
}

/** `4, 6 or 8` */
export function listed(words: readonly (string | number)[]): string {
  const last = words.at(-1);
  return words.length < 2 ? String(last ?? "") : `${words.slice(0, -1).join(", ")} or ${last}`;
}
