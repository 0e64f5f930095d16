import { SESSION_MS } from "../../access/operator-access.ts";

/** Over https, browsers only send a cookie with this prefix to the host that set it. */
const SECURE_NAME = "__Host-trv";
const PLAIN_NAME = "trv_session";
/** The same for a login in progress. */
const SECURE_LOGIN = "__Host-trv-login";
const PLAIN_LOGIN = "trv_login";

/** Whether browsers reach the Admin API over https. */
export const isSecure = (publicUrl: string): boolean => publicUrl.startsWith("https:");

/**
 * The token of the request's session. Over https the cookie of plain http does not count: a page of a neighbouring
 * domain may have set it to put an operator into someone else's session (S11).
 */
export const sessionToken = (headers: Headers, publicUrl: string): string | undefined =>
  cookieOf(headers, isSecure(publicUrl) ? SECURE_NAME : PLAIN_NAME);

/** The value of the login in progress. */
export const loginCookieOf = (headers: Headers, publicUrl: string): string | undefined =>
  cookieOf(headers, isSecure(publicUrl) ? SECURE_LOGIN : PLAIN_LOGIN);

function cookieOf(headers: Headers, wanted: string): string | undefined {
  const cookies = headers.get("cookie");
  if (cookies === null) return undefined;
  const found = new Map<string, string>();
  for (const pair of cookies.split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    // The first of a name counts: a later one may be set for a broader path or domain.
    if (at > 0 && !found.has(name)) found.set(name, pair.slice(at + 1).trim());
  }
  return found.get(wanted);
}

/** `secure`: the Admin API is reached over https. */
export function sessionCookie(token: string, secure: boolean, lastsMs = SESSION_MS): string {
  return cookie(secure ? SECURE_NAME : PLAIN_NAME, token, secure, Math.floor(lastsMs / 1000), "Strict");
}

export const endedCookie = (secure: boolean): string => sessionCookie("", secure, 0);

/** The issuer's page leads to the callback, so a browser must send it from there. */
export const loginCookie = (value: string, secure: boolean, seconds: number): string =>
  cookie(secure ? SECURE_LOGIN : PLAIN_LOGIN, value, secure, seconds, "Lax");

export const endedLoginCookie = (secure: boolean): string => loginCookie("", secure, 0);

function cookie(name: string, value: string, secure: boolean, seconds: number, site: "Strict" | "Lax"): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${site}${secure ? "; Secure" : ""}`;
}
