import { createHmac } from "node:crypto";
import type { Secret } from "./secret.ts";

/**
 * Proves to a receiver that this gateway sent the body, and when. The receiver compares the digest and rejects old
 * timestamps.
 */
export function webhookSignature(body: string, secret: Secret, wallMs: number): string {
  const seconds = Math.floor(wallMs / 1000);
  const digest = createHmac("sha256", secret.reveal()).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${digest}`;
}
