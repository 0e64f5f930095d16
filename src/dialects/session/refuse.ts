import { GatewayError } from "../../canon/error.ts";

/** Thrown while an event is decoded, and reported as an `invalid` command. */
export function refuse(path: string, what: string): never {
  throw new GatewayError("invalid_request", `${path} ${what}`, { path });
}
