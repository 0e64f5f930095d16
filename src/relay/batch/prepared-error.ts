import { GatewayError } from "../../canon/error.ts";

/** Ends a call whose request was only prepared. */
export class PreparedError extends GatewayError {}
