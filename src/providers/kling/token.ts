import { createHmac } from "node:crypto";
import type { Authenticator } from "../credentials.ts";

const LIFETIME_SECONDS = 1800;
/** Clocks differ: a token that is valid from now may be valid from the future for the host. */
const EARLIER_SECONDS = 5;
const MARGIN_SECONDS = 60;

/** A JSON Web Token signed with the pair of keys, valid for half an hour. */
export function signToken(accessKey: string, secretKey: string, nowSeconds: number): string {
  const claims = { iss: accessKey, exp: nowSeconds + LIFETIME_SECONDS, nbf: nowSeconds - EARLIER_SECONDS };
  const unsigned = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${unsigned}.${createHmac("sha256", secretKey).update(unsigned).digest("base64url")}`;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Keeps a token until a minute before it expires, so that none expires in flight. */
export function tokenBearer(accessKey: string, secretKey: string, nowMs: () => number): Authenticator {
  let headers: Record<string, string> = {};
  let renewAtSeconds = 0;
  return () => {
    const nowSeconds = Math.floor(nowMs() / 1000);
    if (nowSeconds >= renewAtSeconds) {
      headers = { authorization: `Bearer ${signToken(accessKey, secretKey, nowSeconds)}` };
      renewAtSeconds = nowSeconds + LIFETIME_SECONDS - MARGIN_SECONDS;
    }
    return headers;
  };
}
