import { GatewayError } from "../canon/error.ts";

/** A field of the body, a parameter or a header that cannot be used: `problem` follows its path in a sentence. */
export const wrongField = (path: string, problem: string): GatewayError =>
  new GatewayError("invalid_request", `${path} ${problem}.`, { path });
