import type { DialectName } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";

/** The header that each protocol's own clients use; it wins where a request carries several (decisions §2). */
const OWN_HEADER: Readonly<Record<DialectName, "authorization" | "x-api-key" | "x-goog-api-key">> = {
  chat: "authorization",
  messages: "x-api-key",
  genai: "authorization",
};

const HEADERS = ["authorization", "x-api-key", "x-goog-api-key"] as const;

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
  return keyIn(request, OWN_HEADER[dialect]) ?? HEADERS.map((name) => keyIn(request, name)).find(Boolean);
}

function keyIn(request: Request, name: string): string | undefined {
  const value = request.headers.get(name);
  if (!value) return undefined;
  if (name !== "authorization") return value.trim();
  if (value.startsWith("Bearer ")) return value.slice("Bearer ".length).trim();
  return /^bearer\s/i.test(value) ? value.slice("bearer ".length).trim() : undefined;
}
