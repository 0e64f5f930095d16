import { sendHealth } from "../health.ts";
import type { Route } from "../route-table.ts";
import type { Handler } from "../routed-request.ts";
import { createKeyHandler, listKeysHandler, revokeKeyHandler } from "./keys.ts";
import { sendDetailedReadiness, showProviders } from "./providers.ts";
import { showUsage } from "./usage.ts";

type AdminRoute = Pick<Route<Handler>, "method" | "path" | "access" | "handle">;

const ROUTES: readonly AdminRoute[] = [
  { method: "GET", path: "/healthz", access: "open", handle: sendHealth },
  { method: "GET", path: "/readyz", access: "open", handle: sendDetailedReadiness },
  { method: "GET", path: "/api/keys", access: "admin", handle: listKeysHandler },
  { method: "POST", path: "/api/keys", access: "admin", handle: createKeyHandler },
  { method: "DELETE", path: /^\/api\/keys\/(?<id>[^/]+)$/, access: "admin", handle: revokeKeyHandler },
  { method: "GET", path: "/api/providers", access: "admin", handle: showProviders },
  { method: "GET", path: "/api/usage", access: "admin", handle: showUsage },
];

/** Every endpoint of the operator's listener. */
export const ADMIN_ROUTES: readonly Route<Handler>[] = ROUTES.map((route) => {
  return { ...route, dialect: "chat", door: "contract" };
});
