import { createHash } from "node:crypto";
import type { Principal } from "../../access/principal.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Operation } from "../../canon/operation.ts";
import type { Operations } from "../../operations/operations.ts";

const IDEMPOTENCY_MS = 24 * 3_600_000;
/** A client that never received its operation's name and repeats the request within this time gets the same operation. */
const REPETITION_MS = 600_000;

export const digestOf = (...texts: string[]): string => createHash("sha256").update(texts.join("\n")).digest("hex");

export const idempotencyKey = (request: Request): string | undefined => {
  const key = request.headers.get("idempotency-key");
  return key ? digestOf(key) : undefined;
};

/** The operation that this request has created already (choices 5: Idempotency). */
export async function findRepeated(
  request: Request,
  principal: Principal,
  requestDigest: string,
  operations: Operations,
  nowMs: number,
): Promise<Operation | undefined> {
  const key = idempotencyKey(request);
  if (key === undefined) return operations.claimUnheard(principal.keyId, requestDigest, nowMs - REPETITION_MS);
  const found = await operations.findByKey(principal.project, key, nowMs - IDEMPOTENCY_MS);
  if (found && found.requestDigest !== requestDigest) {
    const message = "This Idempotency-Key was already used with a different body. Use a new key for a new request.";
    throw new GatewayError("invalid_request", message, { path: "Idempotency-Key", code: "idempotency_key_reused" });
  }
  return found;
}
