import { createHash } from "node:crypto";
import { type Principal, sharingOf } from "../../access/principal.ts";
import type { ObjectOwner } from "../../objects/made-once.ts";
import { credentialOf } from "../credential.ts";
import type { RoutedRequest } from "../routed-request.ts";

const HEADER = "idempotency-key";

/** Who creates an object with this request. The credential keeps ids that follow from `Idempotency-Key` unguessable. */
export function ownerOf(
  principal: Principal,
  { request, dialect }: Pick<RoutedRequest, "request" | "dialect">,
): ObjectOwner {
  return { ...principal, share: sharingOf(principal), once: onceOf(principal, { request, dialect }) };
}

/** The same for every repetition of this request; undefined if it does not say that it may be one. */
export function onceOf(
  { project, keyId }: Principal,
  { request, dialect }: Pick<RoutedRequest, "request" | "dialect">,
): string | undefined {
  const key = request.headers.get(HEADER);
  if (!key) return undefined;
  const of = [project, keyId, credentialOf(request, undefined, dialect), key];
  return createHash("sha256").update(JSON.stringify(of)).digest("hex");
}
