import { isCsrfOf, type OperatorAccess } from "../../access/operator-access.ts";
import type { Operator } from "../../access/people/operator.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Role } from "../../canon/role.ts";
import { sessionToken } from "./session-cookie.ts";
import type { WrongSecrets } from "./wrong-secrets.ts";

type AdminRequest = Pick<Request, "method" | "headers">;

interface Admittance {
  access: OperatorAccess;
  wrongSecrets: WrongSecrets;
  /** The URL at which browsers reach the Admin API. */
  publicUrl: string;
}

/**
 * The operator who sends a request, if it has one of the roles. All access to the Admin API is decided here (S04). A
 * route without roles is closed to everybody. An `Authorization` header takes precedence over a cookie.
 */
export async function authorize(
  request: AdminRequest,
  roles: readonly Role[],
  connection: { readonly address: string },
  admittance: Admittance,
): Promise<Operator> {
  const operator = request.headers.has("authorization")
    ? await bySecret(request, connection, admittance)
    : await bySession(request, admittance);
  if (roles.includes(operator.role)) return operator;
  const message = `The role ${operator.role} cannot use this endpoint${roles.length === 0 ? "" : `; it requires ${roles.join(" or ")}`}.`;
  throw new GatewayError("forbidden", message, { code: "role_not_allowed" });
}

async function bySecret(
  { headers }: AdminRequest,
  connection: { readonly address: string },
  { access, wrongSecrets }: Admittance,
): Promise<Operator> {
  const presented = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization") ?? "")?.[1]?.trim() ?? "";
  const operator = await access.bySecret(presented);
  if (operator !== undefined) return operator;
  if (presented !== "") await wrongSecrets.record({ address: connection.address, by: "bearer" });
  throw notAuthenticated("This endpoint requires an operator's secret: Authorization: Bearer <secret>.");
}

async function bySession({ method, headers }: AdminRequest, { access, publicUrl }: Admittance): Promise<Operator> {
  const token = sessionToken(headers, publicUrl);
  if (token === undefined) {
    throw notAuthenticated(
      "This endpoint requires an operator's secret (Authorization: Bearer <secret>) or a session opened with POST /api/session.",
    );
  }
  const operator = await access.bySession(token);
  if (operator === undefined) throw notAuthenticated("This session has ended. Open another with POST /api/session.");
  if (method === "GET" || method === "HEAD") return operator;
  refuseForeignPages(headers);
  if (isCsrfOf(token, headers.get("x-trivium-csrf") ?? "")) return operator;
  const message = "Changes within a session require the header x-trivium-csrf with the value from GET /api/session.";
  throw new GatewayError("forbidden", message, { code: "invalid_csrf" });
}

/** A page of another origin must neither change anything nor log in, whatever it makes a browser send (S11). */
export function refuseForeignPages(headers: Headers): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const own = site === null ? origin === null || isOwn(origin, headers) : site === "same-origin";
  if (own) return;
  throw new GatewayError("forbidden", "The Admin API only accepts changes from its own pages.", {
    code: "foreign_origin",
  });
}

const isOwn = (origin: string, headers: Headers): boolean =>
  URL.canParse(origin) && new URL(origin).host === (headers.get("host") ?? "").toLowerCase();

const notAuthenticated = (message: string): GatewayError =>
  new GatewayError("unauthenticated", message, { code: "invalid_admin_secret" });
