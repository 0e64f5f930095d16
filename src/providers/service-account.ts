import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { deadline } from "../base/deadline.ts";
import { numberAt, parseObject, stringAt } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import type { Authenticator } from "./credentials.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const LIFETIME_SECONDS = 3600;
/** A token is replaced this long before it expires, so that none expires in flight. */
const MARGIN_MS = 5 * 60_000;
const TIMEOUT_MS = 15_000;

interface Account {
  email: string;
  key: KeyObject;
  tokenUrl: string;
}

/** Signs in as a Google service account: a signed assertion is exchanged for a token, which is kept until shortly before it expires. */
export function serviceAccount(file: string, clock: Clock): Authenticator {
  const account = readAccount(file);
  let current: { headers: Record<string, string>; expiresAtMs: number } | undefined;
  let pending: Promise<Record<string, string>> | undefined;
  const renew = async () => {
    try {
      const token = await requestToken(account, clock);
      current = { headers: { authorization: `Bearer ${token.value}` }, expiresAtMs: clock.wallMs() + token.lifetimeMs };
      return current.headers;
    } finally {
      pending = undefined;
    }
  };
  return () => {
    if (current && current.expiresAtMs - MARGIN_MS > clock.wallMs()) return current.headers;
    pending ??= renew();
    return pending;
  };
}

function readAccount(file: string): Account {
  const content = parseObject(readText(file));
  const email = stringAt(content, "client_email");
  const keyPem = stringAt(content, "private_key");
  if (!email || !keyPem)
    throw new Error(`${file} is not a service account file: client_email or private_key is missing`);
  const tokenUrl = stringAt(content, "token_uri") ?? "https://oauth2.googleapis.com/token";
  return { email, key: readKey(keyPem, file), tokenUrl };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${file}: ${code === "ENOENT" ? "the file does not exist" : `cannot read the file (${code})`}`);
  }
}

/** The parser's own message is left out: it may show parts of the key. */
function readKey(pem: string, file: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new Error(`${file}: private_key is not a PEM key`);
  }
  if (key.asymmetricKeyType !== "rsa") throw new Error(`${file}: private_key is not an RSA key`);
  return key;
}

async function requestToken(account: Account, clock: Clock): Promise<{ value: string; lifetimeMs: number }> {
  const failed = (why: string, cause?: unknown) =>
    new GatewayError("upstream_credentials", `The provider did not issue an access token: ${why}.`, { cause });
  let assertion: string;
  try {
    assertion = await signAssertion(account, Math.floor(clock.wallMs() / 1000));
  } catch (cause) {
    throw failed("the service account's key cannot sign", cause);
  }
  const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  const late = deadline(clock, TIMEOUT_MS);
  let response: Response;
  let text: string;
  try {
    response = await fetch(account.tokenUrl, { method: "POST", body: form, signal: late.signal });
    text = await response.text();
  } catch (cause) {
    throw failed("its token service did not respond", cause);
  } finally {
    late.cancel();
  }
  const body = parseObject(text);
  const value = stringAt(body, "access_token");
  if (!response.ok || !value) throw failed(`its token service returned ${response.status}`);
  return { value, lifetimeMs: (numberAt(body, "expires_in") ?? LIFETIME_SECONDS) * 1000 };
}

/** The library is loaded by the first token, so that it costs no start-up time. */
async function signAssertion({ email, tokenUrl, key }: Account, nowSeconds: number): Promise<string> {
  const { SignJWT } = await import("jose");
  return new SignJWT({ iss: email, scope: SCOPE, aud: tokenUrl, iat: nowSeconds, exp: nowSeconds + LIFETIME_SECONDS })
    .setProtectedHeader({ alg: "RS256", typ: "JWT" })
    .sign(key);
}
