import { createHash, createHmac } from "node:crypto";
import type { OutgoingRequest } from "../credentials.ts";

const ALGORITHM = "TC3-HMAC-SHA256";

/** The signature of Tencent Cloud's API 3.0: a digest of the request, signed with a key that is derived for the day. */
interface Tc3Credentials {
  secretId: string;
  secretKey: string;
}

/** The headers to add to a POST. Neither its body nor the signed headers may change afterwards. */
export function signTc3(
  request: OutgoingRequest,
  credentials: Tc3Credentials,
  service: string,
  date: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(date.getTime() / 1000));
  const day = date.toISOString().slice(0, 10);
  const url = new URL(request.url);
  const type = request.headers["content-type"] ?? "application/json";
  const action = request.headers["x-tc-action"];
  const covered: [name: string, value: string][] = [
    ["content-type", type],
    ["host", url.host],
    ...(action === undefined ? [] : [["x-tc-action", action] satisfies [string, string]]),
  ];
  const names = covered.map(([name]) => name).join(";");
  const canonical = [
    "POST",
    url.pathname,
    url.search.slice(1),
    ...covered.map(([name, value]) => `${name}:${value.toLowerCase()}`),
    "",
    names,
    digest(request.body),
  ].join("\n");
  const credentialScope = `${day}/${service}/tc3_request`;
  const toSign = [ALGORITHM, timestamp, credentialScope, digest(canonical)].join("\n");
  let key: string | Buffer = `TC3${credentials.secretKey}`;
  for (const word of credentialScope.split("/")) key = createHmac("sha256", key).update(word).digest();
  const signature = createHmac("sha256", key).update(toSign).digest("hex");
  return {
    "content-type": type,
    "x-tc-timestamp": timestamp,
    authorization: `${ALGORITHM} Credential=${credentials.secretId}/${credentialScope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

const digest = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");
