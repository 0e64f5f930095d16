import { createHash } from "node:crypto";
import type { Random } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";
import type { ObjectKind, Owned, Reader } from "../canon/ownership.ts";
import { AlreadyMade, type StoredObject } from "../storage/tables/objects.ts";
import { newObjectRandom } from "./object-id.ts";

/** The key that creates an object, and who else may use it. */
export interface ObjectOwner extends Owned, Reader {
  keyId: string;
  /** The same for every repetition of a request that has an `Idempotency-Key`. */
  once?: string | undefined;
}

/**
 * What a client creates with an `Idempotency-Key` has an id that is derived from it. The row itself then tells that the request is a
 * repetition, whatever became of the first answer: it is there if, and only if, the first request was committed.
 */
export function newIdOf({ once }: ObjectOwner, kind: ObjectKind, random: Random): string {
  return newObjectRandom(once === undefined ? random : repeatable(kind, once));
}

/** Randomness that is the same each time, and that nobody can guess who does not know all of it. */
export function repeatable(...seed: readonly string[]): Random {
  let count = 0;
  const bytes = (length: number): Uint8Array => {
    const parts: Buffer[] = [];
    for (let at = 0; at < length; at += 32)
      parts.push(
        createHash("sha256")
          .update(JSON.stringify([...seed, count++]))
          .digest(),
      );
    return new Uint8Array(Buffer.concat(parts).subarray(0, length));
  };
  return { bytes, id: () => Buffer.from(bytes(17)).toString("base64url").slice(0, 22) };
}

/** The metadata of an object that is created once: a digest of what was asked for. */
export const askedOf = ({ once }: ObjectOwner, ...asked: readonly unknown[]): { asked?: string } =>
  once === undefined ? {} : { asked: createHash("sha256").update(JSON.stringify(asked)).digest("hex") };

/** Creates an object, or returns the one that an equal request has created. */
export async function madeOnce(object: StoredObject, make: () => Promise<void>): Promise<StoredObject> {
  try {
    await make();
    return object;
  } catch (thrown) {
    if (!(thrown instanceof AlreadyMade)) throw thrown;
    if (thrown.object.metadata["asked"] === object.metadata["asked"]) return thrown.object;
    const message = "This Idempotency-Key was already used with a different body. Use a new key for a new request.";
    throw new GatewayError("invalid_request", message, { path: "Idempotency-Key", code: "idempotency_key_reused" });
  }
}
