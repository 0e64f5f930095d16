import { GatewayError } from "../canon/error.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { KeyHeader } from "../dialects/endpoint.ts";

/** The key that a request presents, in any of the three headers. */
export function credentialOf(
  request: Request,
  query: URLSearchParams | undefined,
  dialect: Dialect,
): string | undefined {
  if (query?.has("key")) {
    throw new GatewayError(
      "invalid_request",
      "A key in the URL (?key=) is refused because URLs end up in logs. Send it in a header: Authorization: Bearer, x-api-key or x-goog-api-key.",
      { path: "key" },
    );
  }
  for (const header of dialect.http.keyHeaders) {
    const key = keyIn(request, header);
    if (key) return key;
  }
  return undefined;
}

const KEY_HEADERS: readonly KeyHeader[] = ["authorization", "x-api-key", "x-goog-api-key"];

/** Whether a request presents a credential, right or wrong: an empty key is a wrong one. */
export const presentsCredential = ({ headers }: Request, query: URLSearchParams): boolean =>
  query.has("key") || KEY_HEADERS.some((name) => headers.has(name));

/** The header whose key is used. */
export function keyHeaderOf(request: Request, dialect: Dialect): KeyHeader | undefined {
  for (const header of dialect.http.keyHeaders) if (keyIn(request, header)) return header;
  return undefined;
}

function keyIn(request: Request, name: KeyHeader): string | undefined {
  const value = request.headers.get(name);
  if (!value) return undefined;
  if (name !== "authorization") return value.trim();
  if (value.startsWith("Bearer ")) return value.slice("Bearer ".length).trim();
  return /^bearer\s/i.test(value) ? value.slice("bearer ".length).trim() : undefined;
}
