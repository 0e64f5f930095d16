import { checkEndUser, isEndUser } from "../../access/parts/end-user-id.ts";
import { requiresEndUser } from "../../access/parts/part-limits.ts";
import type { Principal } from "../../access/principal.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";

export const END_USER_HEADER = "x-trivium-user";

/**
 * Who uses the client's program: as its credential says, or else the header, or else the body. Read before fields are taken
 * out that a base URL does not support. What is no valid id is refused if it comes in the header, or if end users are limited.
 */
export function endUserOf(headers: Headers, body: JsonObject, principal: Principal): string | undefined {
  const { user, parts } = principal;
  const found = inCredential(user) ?? inHeader(headers) ?? inBody(body, parts !== undefined);
  if (found === undefined && parts !== undefined && requiresEndUser(parts)) throw missing(principal);
  return found;
}

const inCredential = (user: string | undefined): string | undefined =>
  user === undefined ? undefined : checkEndUser(user, "user");

function inHeader(headers: Headers): string | undefined {
  const written = headers.get(END_USER_HEADER);
  return written === null || written === "" ? undefined : checkEndUser(written, END_USER_HEADER);
}

function inBody(body: JsonObject, isStrict: boolean): string | undefined {
  const { safety_identifier: safety, user, metadata } = body;
  if (safety === undefined && user === undefined && metadata === undefined) return undefined;
  return (
    textAt(safety, "safety_identifier", isStrict) ??
    textAt(user, "user", isStrict) ??
    (isObject(metadata) ? textAt(metadata["user_id"], "metadata.user_id", isStrict) : undefined)
  );
}

function textAt(value: unknown, path: string, isStrict: boolean): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" && isEndUser(value)) return value;
  if (!isStrict) return undefined;
  if (typeof value === "string") return checkEndUser(value, path);
  throw new GatewayError("invalid_request", `\`${path}\` must be a string.`, { path });
}

function missing({ keyName }: Principal): GatewayError {
  const message =
    `Requests with the key "${keyName}" must name their end user: send the header \`${END_USER_HEADER}\`, or in the body ` +
    "`safety_identifier`, `user` or `metadata.user_id`.";
  return new GatewayError("invalid_request", message, { path: "user", code: "end_user_required" });
}
