import { SESSION_MS } from "../../access/operator-access.ts";

/** Over https, browsers only send a cookie with this prefix to the host that set it. */
const SECURE_NAME = "__Host-trv";
const PLAIN_NAME = "trv_session";

/** Whether browsers reach the Admin API over https. */
export const isSecure = (publicUrl: string): boolean => publicUrl.startsWith("https:");

/**
 * The token of the request's session. Over https the cookie of plain http does not count: a page of a neighbouring
 * domain may have set it to put an operator into someone else's session (S11).
 */
export function sessionToken(headers: Headers, publicUrl: string): string | undefined {
  const cookies = headers.get("cookie");
  if (cookies === null) return undefined;
  const found = new Map<string, string>();
  for (const pair of cookies.split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    // The first of a name counts: a later one may be set for a broader path or domain.
    if (at > 0 && !found.has(name)) found.set(name, pair.slice(at + 1).trim());
  }
  return found.get(isSecure(publicUrl) ? SECURE_NAME : PLAIN_NAME);
}

/** `secure`: the Admin API is reached over https. */
export function sessionCookie(token: string, secure: boolean): string {
  return cookie(token, secure, Math.floor(SESSION_MS / 1000));
}

export const endedCookie = (secure: boolean): string => cookie("", secure, 0);

function cookie(value: string, secure: boolean, seconds: number): string {
  const name = secure ? SECURE_NAME : PLAIN_NAME;
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}
