import { GatewayError } from "../canon/error.ts";
import type { ObjectKind } from "../canon/ownership.ts";

/** The same for an object that does not exist and for one that the caller may not see. */
export const noSuchObject = (kind: ObjectKind, id: string): GatewayError =>
  new GatewayError(
    "not_found",
    `There is no ${kind} ${JSON.stringify(id.slice(0, 100))}, or this key may not use it.`,
    {
      code: `${kind}_not_found`,
    },
  );
