import { createHash } from "node:crypto";
import type { Payer } from "../../access/people/token-ring.ts";
import type { Principal } from "../../access/principal.ts";
import type { Caller } from "../../access/scopes.ts";
import { Sealer } from "../../answers/sealer.ts";
import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { KeptHeaders } from "../../relay/derived/kept-headers.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { Storage } from "../../storage/storage.ts";
import { insertLiveSecret, selectLiveSecret } from "../../storage/tables/live-secrets.ts";

/** The vendor's prefix, by which its SDKs know that a browser may hold the secret. */
export const LIVE_SECRET_PREFIX = "ek_";
const SECRET_BYTES = 32;
/** Valid secrets of one key. */
const MAX_VALID = 10_000;

/** What a secret opens. */
interface LiveSecret {
  /** The key that made it. */
  readonly principal: Principal;
  readonly model: string;
  /** Settings that hold from the beginning of its sessions. */
  readonly session: JsonObject;
  /** Headers of the request that made it, which its sessions have. */
  readonly headers: KeptHeaders;
}

/** What is stored of it beside its key. A token may be for another project than others of its subject. */
type SealedSecret = Pick<LiveSecret, "session" | "headers"> & Pick<Payer, "project">;

type Store = Pick<Storage, "query" | "transaction">;

const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** The settings may contain a prompt. Whoever can read the storage, which has only the hash, cannot derive their key. */
const sealerOf = (secret: string, { random }: Pick<Gateway, "random">): Sealer =>
  new Sealer(createHash("sha256").update("trivium live secret\n").update(secret).digest(), random);

const place = (hash: string): string => `live_secrets ${hash}`;

/** Makes a secret. It is returned only here. */
export async function createLiveSecret(
  storage: Store,
  made: LiveSecret & { seconds: number },
  gateway: Gateway,
): Promise<{ value: string; expiresAtMs: number }> {
  const { clock, random } = gateway;
  const value = LIVE_SECRET_PREFIX + random.bytes(SECRET_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
  const nowMs = Math.floor(clock.wallMs());
  const { keyId, project, expiresAtMs: ownEnd = Number.POSITIVE_INFINITY } = made.principal;
  // A secret cannot live longer than its key.
  const expiresAtMs = Math.min(nowMs + made.seconds * 1000, ownEnd);
  const hash = hashOf(value);
  const sealed = await sealerOf(value, gateway).seal(
    JSON.stringify({ session: made.session, headers: made.headers, project }),
    place(hash),
  );
  const row = { hash, keyId, model: made.model, session: Buffer.from(sealed).toString("base64"), expiresAtMs };
  const isMade = await storage.transaction((queries) => insertLiveSecret(queries, row, { nowMs, most: MAX_VALID }));
  if (isMade) return { value, expiresAtMs };
  const message = `This key already has ${MAX_VALID} valid client secrets, the maximum. Wait until some have expired.`;
  throw new GatewayError("rate_limited", message, { retryAfterSeconds: 10 });
}

/** What a presented secret opens. Throws if it is unknown or expired, or if its key may not call any more. */
export async function openLiveSecret(
  storage: Store,
  value: string,
  caller: Caller,
  gateway: Gateway,
): Promise<LiveSecret> {
  const hash = hashOf(value);
  const found = await selectLiveSecret(storage, hash, Math.floor(gateway.clock.wallMs()));
  if (found === undefined) {
    const message = "This client secret is unknown or has expired. Create one with POST /v1/realtime/client_secrets.";
    throw new GatewayError("unauthenticated", message);
  }
  const { keyId, model } = found;
  const sealed = Buffer.from(found.session, "base64");
  const made: unknown = JSON.parse(await sealerOf(value, gateway).open(sealed, place(hash)));
  // One that an earlier version has made has no project, or only settings. It lives for ten minutes at most.
  const { session = made as JsonObject, headers = {}, project = "" } = made as Partial<SealedSecret>;
  const principal = await gateway.keys.holder({ keyId, project }, caller, "client secret");
  return { principal, model, session, headers };
}

/** The key of a secret now. Its sessions outlive the secret, but not the key. */
export function keyOfSecret(payer: Payer, { keys }: Pick<Gateway, "keys">): Principal {
  const principal = keys.current(payer);
  if (principal !== undefined) return principal;
  throw new GatewayError(
    "unauthenticated",
    "The API key that made this client secret has been revoked or has expired.",
  );
}
