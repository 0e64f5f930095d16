import type { DialectName } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";

type KeyHeader = "authorization" | "x-api-key" | "x-goog-api-key";

/** Where a request carries several, a protocol's own headers win: the contract's, then its vendor's (choices 2). */
const HEADERS: Readonly<Record<DialectName, readonly KeyHeader[]>> = {
  chat: ["authorization", "x-api-key", "x-goog-api-key"],
  messages: ["x-api-key", "authorization", "x-goog-api-key"],
  genai: ["authorization", "x-goog-api-key", "x-api-key"],
};

/** The key that a request presents, whichever of the three headers carries it. */
export function credentialOf(
  request: Request,
  query: URLSearchParams | undefined,
  dialect: DialectName,
): string | undefined {
  if (query?.has("key")) {
    throw new GatewayError(
      "invalid_request",
      "A key in the address (?key=) is refused because addresses end up in logs. Send it in a header: Authorization: Bearer, x-api-key or x-goog-api-key.",
      { path: "key" },
    );
  }
  const header = keyHeaderOf(request, dialect);
  return header && keyIn(request, header);
}

/** The header that carries the key which counts. */
export const keyHeaderOf = (request: Request, dialect: DialectName): KeyHeader | undefined =>
  HEADERS[dialect].find((header) => keyIn(request, header));

function keyIn(request: Request, name: KeyHeader): string | undefined {
  const value = request.headers.get(name);
  if (!value) return undefined;
  if (name !== "authorization") return value.trim();
  if (value.startsWith("Bearer ")) return value.slice("Bearer ".length).trim();
  return /^bearer\s/i.test(value) ? value.slice("bearer ".length).trim() : undefined;
}
