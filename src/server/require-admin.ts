import { GatewayError } from "../canon/error.ts";
import type { ServerContext } from "./routed-request.ts";

/** Throws unless a request carries the operator's secret. */
export function requireAdmin(headers: Headers, { isAdmin }: Pick<ServerContext, "isAdmin">): void {
  const presented = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization") ?? "")?.[1]?.trim() ?? "";
  if (presented !== "" && isAdmin(presented)) return;
  throw new GatewayError("unauthenticated", "This endpoint needs the admin secret: Authorization: Bearer <secret>.", {
    code: "invalid_admin_secret",
  });
}
