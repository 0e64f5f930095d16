import { createHmac, timingSafeEqual } from "node:crypto";
import { bearerOf } from "../../credentials.ts";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import type { MediaContext } from "../../media/media-host.ts";
import { klingError } from "./errors.ts";

/** The secret of every access key. */
export const KLING_SECRET = "simulated-kling-secret";

const invalid = (why: string) => klingError(401, 1002, `Authorization is invalid: ${why}`);

function decodePart(part: string): JsonObject {
  try {
    const value = JSON.parse(Buffer.from(part, "base64url").toString("utf8")) as Json;
    if (isObject(value)) return value;
  } catch {
    // Reported below, like a part that is JSON but not an object.
  }
  throw invalid("a part of the token is not a JSON object in base64url.");
}

function verifyToken(head: string, body: string, signature: string, nowSeconds: number): string {
  if (decodePart(head)["alg"] !== "HS256") throw invalid("the token must be signed with HS256.");
  const expected = createHmac("sha256", KLING_SECRET).update(`${head}.${body}`).digest();
  const given = Buffer.from(signature, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw klingError(401, 1000, "Authentication failed: the signature does not match.");
  }
  const { iss, exp, nbf } = decodePart(body);
  if (typeof iss !== "string" || iss === "" || iss.includes("wrong")) throw invalid("iss must be an access key.");
  if (typeof exp !== "number" || typeof nbf !== "number") throw invalid("exp and nbf must be numbers of seconds.");
  if (nbf > nowSeconds) throw klingError(401, 1003, "Authorization is not yet valid.");
  if (exp <= nowSeconds) throw klingError(401, 1004, "Authorization has expired.");
  return iss;
}

/** Whose request it is, by a plain key or by a token signed with the secret of an access key. */
export function authenticate(headers: Headers, context: MediaContext): string {
  const given = bearerOf(headers) ?? "";
  if (given === "") throw klingError(401, 1001, "Authorization is empty.");
  const [head, body, signature, ...more] = given.split(".");
  if (head !== undefined && body !== undefined && signature !== undefined && more.length === 0) {
    return verifyToken(head, body, signature, context.nowMs() / 1000);
  }
  if (!context.acceptsKey(given)) throw klingError(401, 1000, "Authentication failed: there is no such key.");
  return given;
}
