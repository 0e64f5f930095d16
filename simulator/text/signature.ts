import { createHmac } from "node:crypto";
import { decodeBase64 } from "../inspect-media.ts";
import type { Seed } from "../seed.ts";

/** Not a secret: it only lets the simulator know its own signatures again. */
const SIGNING_KEY = "trivium simulator";
const NONCE_BYTES = 8;
const DIGEST_BYTES = 32;

function digest(purpose: string, nonce: Buffer, payload: string): Buffer {
  return createHmac("sha256", SIGNING_KEY).update(`${purpose}\n`).update(nonce).update(payload).digest();
}

/** Base64 of a nonce and of an HMAC over the payload. The purpose names the host family and the kind of part. */
export function sign(purpose: string, payload: string, seed: Seed): string {
  const nonce = seed.bytes(`nonce ${purpose}`).subarray(0, NONCE_BYTES);
  return Buffer.concat([nonce, digest(purpose, nonce, payload)]).toString("base64");
}

/** Reads both base64 alphabets, because Google's Python SDK sends signatures back in the other one. */
export function isSigned(purpose: string, payload: string, signature: string): boolean {
  const bytes = decodeBase64(signature);
  if (bytes === undefined || bytes.length !== NONCE_BYTES + DIGEST_BYTES) return false;
  const nonce = Buffer.from(bytes.subarray(0, NONCE_BYTES));
  return digest(purpose, nonce, payload).equals(bytes.subarray(NONCE_BYTES));
}

/** Text that its holder cannot read at a glance, with its signature in front. */
export function seal(purpose: string, text: string, seed: Seed): string {
  const signature = Buffer.from(sign(purpose, text, seed), "base64");
  const veiled = Buffer.from(text).map((byte) => byte ^ 0xa5);
  return Buffer.concat([signature, veiled]).toString("base64");
}

export const isSealed = (purpose: string, sealed: string): boolean => unseal(purpose, sealed) !== undefined;

/** The text of a sealed value; `undefined` where it was not sealed here, for this purpose. */
export function unseal(purpose: string, sealed: string): string | undefined {
  const bytes = decodeBase64(sealed);
  if (bytes === undefined || bytes.length < NONCE_BYTES + DIGEST_BYTES) return undefined;
  const signature = Buffer.from(bytes.subarray(0, NONCE_BYTES + DIGEST_BYTES)).toString("base64");
  const text = Buffer.from(bytes.subarray(NONCE_BYTES + DIGEST_BYTES).map((byte) => byte ^ 0xa5)).toString();
  return isSigned(purpose, text, signature) ? text : undefined;
}
