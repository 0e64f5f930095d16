import { createHmac, timingSafeEqual } from "node:crypto";

/** The right to fetch one file until a time, in seconds since 1970, for any holder of the URL. */
export function signFile(secret: string, id: string, expires: number): string {
  return createHmac("sha256", secret).update(`${id}\n${expires}`).digest("base64url");
}

/** Whether the two query parameters of a URL grant that right now. */
export function isSignedFile(secret: string, id: string, expires: string, signature: string, nowMs: number): boolean {
  // Only one spelling: the signature covers a number, and a second spelling would be a second URL.
  if (!/^[1-9]\d{0,11}$/.test(expires)) return false;
  const right = Buffer.from(signFile(secret, id, Number(expires)));
  const presented = Buffer.from(signature);
  return presented.length === right.length && timingSafeEqual(presented, right) && Number(expires) * 1000 > nowMs;
}
