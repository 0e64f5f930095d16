import type { Dialect } from "../dialects/dialect.ts";

export const REQUEST_ID = "x-trivium-request-id";

/** The headers that every answer of the gateway carries: its request's id, also under the name that the dialect's clients look for. */
export function identityHeaders(dialect: Dialect, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { [REQUEST_ID]: requestId };
  if (dialect.requestIdHeader) headers[dialect.requestIdHeader] = requestId;
  return headers;
}
