import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Exchange } from "../../exchange.ts";
import { tencentError } from "./errors.ts";

/** The secret of every secret id. */
export const HUNYUAN_SECRET = "simulated-hunyuan-secret";

const AUTHORIZATION =
  /^TC3-HMAC-SHA256 Credential=([^/]+)\/(\d{4}-\d{2}-\d{2})\/(\w+)\/tc3_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/;
const MAX_SKEW_SECONDS = 300;

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** The date must be that of the moment, and the moment must be now. */
function checkMoment(timestamp: string, day: string, nowMs: number): void {
  const seconds = /^\d{1,11}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(nowMs / 1000 - seconds) <= MAX_SKEW_SECONDS)) {
    throw tencentError("AuthFailure.SignatureExpire", `X-TC-Timestamp ${timestamp} is not now.`);
  }
  if (new Date(seconds * 1000).toISOString().slice(0, 10) !== day) {
    throw tencentError("AuthFailure.SignatureFailure", "The date of the credential is not that of X-TC-Timestamp.");
  }
}

/** Throws unless the request was signed, just now, with the secret. Gives the secret id. */
export function verifySignature({ headers, url, method, bodyBytes }: Exchange, service: string, nowMs: number): string {
  const parsed = AUTHORIZATION.exec(headers.get("authorization") ?? "");
  if (parsed === null) {
    throw tencentError("AuthFailure.InvalidAuthorization", "Authorization must be a TC3-HMAC-SHA256 signature.");
  }
  const [, secretId = "", day = "", scopedTo = "", signedHeaders = "", signature = ""] = parsed;
  if (secretId.includes("wrong")) throw tencentError("AuthFailure.SecretIdNotFound", "The SecretId is not found.");
  const timestamp = headers.get("x-tc-timestamp") ?? "";
  checkMoment(timestamp, day, nowMs);
  const refused = (why: string) => tencentError("AuthFailure.SignatureFailure", why);
  if (scopedTo !== service) throw refused(`The credential is for ${scopedTo}, and this is ${service}.`);
  const names = signedHeaders.split(";");
  for (const name of ["content-type", "host"]) {
    if (!names.includes(name)) throw refused(`${name} must be a signed header.`);
  }
  const key = hmac(hmac(hmac(`TC3${HUNYUAN_SECRET}`, day), service), "tc3_request");
  const signatureOf = (path: string): Buffer => {
    const lines = names.map((name) => `${name}:${(headers.get(name) ?? "").trim().toLowerCase()}`);
    const canonical = [method, path, url.search.slice(1), ...lines, "", signedHeaders, sha256(bodyBytes)].join("\n");
    return hmac(key, ["TC3-HMAC-SHA256", timestamp, `${day}/${service}/tc3_request`, sha256(canonical)].join("\n"));
  };
  // The real host has no path. Here it has one, which a caller may sign or leave out.
  const given = Buffer.from(signature, "hex");
  if (!["/", url.pathname].some((path) => timingSafeEqual(signatureOf(path), given))) {
    throw refused("The provided credentials could not be validated. Please check your signature is correct.");
  }
  return secretId;
}
