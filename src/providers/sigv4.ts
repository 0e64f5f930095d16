import { createHash, createHmac } from "node:crypto";
import { withoutAbsent } from "../base/without-absent.ts";

/** Signature version 4 of the AWS hosts: a digest of the whole request, signed with a key that is derived for the day. */
export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

interface SigningRequest {
  method: string;
  url: string;
  /** Headers to sign in addition to those that the signature always covers. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
}

interface SigningScope {
  region: string;
  service: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/** The headers to add to the request. Nothing about it may change afterwards. */
export function signRequest(
  request: SigningRequest,
  credentials: Credentials,
  scope: SigningScope,
  date: Date,
): Record<string, string> {
  const moment = `${date.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  const day = moment.slice(0, 8);
  const { sessionToken } = credentials;
  const added = {
    "x-amz-date": moment,
    ...withoutAbsent({ "x-amz-security-token": sessionToken }),
  };
  const url = new URL(request.url);
  const headers = canonicalHeaders({ ...request.headers, ...added, host: url.host });
  const names = headers.map(([name]) => name).join(";");
  const canonical = [
    request.method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    digest(request.body),
  ].join("\n");
  const credentialScope = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = [ALGORITHM, moment, credentialScope, digest(canonical)].join("\n");
  let key: string | Buffer = `AWS4${credentials.secretAccessKey}`;
  for (const word of credentialScope.split("/")) key = createHmac("sha256", key).update(word).digest();
  const signature = createHmac("sha256", key).update(toSign).digest("hex");
  return {
    ...added,
    authorization: `${ALGORITHM} Credential=${credentials.accessKeyId}/${credentialScope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function canonicalHeaders(headers: Readonly<Record<string, string>>): [name: string, value: string][] {
  const lower = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value.trim().replaceAll(/ +/g, " "),
  ]);
  return lower.sort(byFirst);
}

/** The path is encoded in the URL already, and is encoded once more, segment by segment: `%3A` becomes `%253A`. */
const canonicalPath = (path: string): string => path.split("/").map(encode).join("/");

function canonicalQuery(parameters: URLSearchParams): string {
  const pairs = [...parameters].map(([name, value]): [string, string] => [encode(name), encode(value)]);
  return pairs
    .sort(byFirst)
    .map((pair) => pair.join("="))
    .join("&");
}

const byFirst = ([a, c = ""]: readonly string[], [b, d = ""]: readonly string[]): number =>
  compare(a ?? "", b ?? "") || compare(c, d);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Encodes every byte but letters, digits, `-`, `.`, `_` and `~`. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

const digest = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");
