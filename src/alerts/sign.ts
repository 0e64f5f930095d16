import { createHmac } from "node:crypto";
import type { Secret } from "../base/secret.ts";

/**
 * What proves to a receiver that a body is from this gateway, and when it was sent: it compares the digest, and refuses a moment
 * that is long past.
 */
export function signatureOf(body: string, secret: Secret, wallMs: number): string {
  const seconds = Math.floor(wallMs / 1000);
  const digest = createHmac("sha256", secret.reveal()).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${digest}`;
}
