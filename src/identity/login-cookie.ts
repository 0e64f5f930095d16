import { timingSafeEqual } from "node:crypto";
import type { Random } from "../base/sources.ts";

/** How long a login may take. */
export const LOGIN_MS = 600_000;
const TOKEN_BYTES = 32;
const FORM = /^([\w-]{43})\.(\d{1,15})\.([\w-]{43})$/;

/** A login in progress: everything that the issuer sends back, or that proves it, follows from one random token. */
export interface LoginInProgress {
  /** What is stored once the login is used. */
  hash: string;
  expiresAtMs: number;
  state: string;
  nonce: string;
  codeVerifier: string;
}

const digest = (text: string): string => Bun.SHA256.hash(text, "base64url");

const loginOf = (token: string, expiresAtMs: number): LoginInProgress => ({
  hash: digest(`used ${token}`),
  expiresAtMs,
  state: digest(`state ${token}`),
  nonce: digest(`nonce ${token}`),
  codeVerifier: digest(`verifier ${token}`),
});

/** Nothing is stored until the issuer answers: every instance can check the seal, which only they can make. */
export function beginLogin({ bytes }: Pick<Random, "bytes">, sealKey: string, nowMs: number) {
  const token = bytes(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
  const expiresAtMs = Math.floor(nowMs) + LOGIN_MS;
  return {
    login: loginOf(token, expiresAtMs),
    value: `${token}.${expiresAtMs}.${sealOf(token, expiresAtMs, sealKey)}`,
  };
}

/** Undefined if `beginLogin` did not make the value, or it has expired. */
export function readLogin(value: string, sealKey: string, nowMs: number): LoginInProgress | undefined {
  const [, token = "", expires = "", seal = ""] = FORM.exec(value) ?? [];
  const expiresAtMs = Number(expires);
  if (token === "" || expiresAtMs <= nowMs) return undefined;
  const right = Buffer.from(sealOf(token, expiresAtMs, sealKey));
  return timingSafeEqual(right, Buffer.from(seal)) ? loginOf(token, expiresAtMs) : undefined;
}

const sealOf = (token: string, expiresAtMs: number, key: string): string =>
  new Bun.CryptoHasher("sha256", `trivium login\n${key}`).update(`${token}.${expiresAtMs}`).digest("base64url");
