import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Exchange } from "../../../exchange.ts";
import { bedrockError } from "./errors.ts";

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/(\w+)\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/;
const MAX_SKEW_MS = 5 * 60_000;

const refused = (message: string) => bedrockError(403, "InvalidSignatureException", message);
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

function momentOf(text: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Throws unless the request was signed, just now, with this secret. Gives the access key's id. */
export function verifySignature(exchange: Exchange, secretAccessKey: string, nowMs: number): string {
  const { headers, url, method, bodyText } = exchange;
  const parsed = AUTHORIZATION.exec(headers.get("authorization") ?? "");
  if (parsed === null) {
    throw bedrockError(
      403,
      "IncompleteSignatureException",
      "Authorization header requires Credential, SignedHeaders and Signature.",
    );
  }
  const [, accessKeyId = "", day = "", region = "", service = "", signedHeaders = "", signature = ""] = parsed;
  const moment = headers.get("x-amz-date") ?? "";
  const age = Math.abs(nowMs - momentOf(moment));
  if (!moment.startsWith(day) || !(age <= MAX_SKEW_MS)) throw refused(`Signature expired: ${moment} is not now.`);
  if (service !== "bedrock")
    throw refused(`Credential should be scoped to correct service: 'bedrock', not '${service}'.`);
  const names = signedHeaders.split(";");
  const needed = ["host", "x-amz-date", ...(headers.has("x-amz-security-token") ? ["x-amz-security-token"] : [])];
  for (const name of needed) {
    if (!names.includes(name)) throw refused(`'${name}' must be a 'SignedHeader' in the AWS Authorization.`);
  }
  const query = [...url.searchParams].map(([name, value]) => `${escaped(name)}=${escaped(value)}`).sort();
  const canonical = [
    method,
    url.pathname.split("/").map(escaped).join("/"),
    query.join("&"),
    ...names.map((name) => `${name}:${(headers.get(name) ?? "").trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders,
    sha256(bodyText),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), service), "aws4_request");
  const expected = hmac(key, ["AWS4-HMAC-SHA256", moment, scope, sha256(canonical)].join("\n"));
  if (!timingSafeEqual(expected, Buffer.from(signature, "hex"))) {
    throw refused("The request signature we calculated does not match the signature you provided.");
  }
  return accessKeyId;
}
