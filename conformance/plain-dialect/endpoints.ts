import type { DialectEndpoint, EndpointCall } from "../../src/dialects/endpoint.ts";

export const endpoints: readonly DialectEndpoint[] = [
  { door: "contract", path: "/api/plain/v1/ask", asks: "generate" },
  { door: "contract", path: "/api/plain/v1/count", asks: "count_tokens" },
  { door: "contract", path: "/api/plain/v1/models", asks: "list_models" },
  { door: "contract", path: /^\/api\/plain\/v1\/models\/(?<id>.+)$/, asks: "show_model" },
];

/** The body contains everything. */
export const readCall = (): EndpointCall => ({ options: undefined });
