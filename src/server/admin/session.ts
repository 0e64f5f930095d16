import { recordAct } from "../../access/audit.ts";
import { csrfOf, type OpenedSession, type OperatorAccess } from "../../access/operator-access.ts";
import { GatewayError } from "../../canon/error.ts";
import { ROLES } from "../../canon/role.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { refuseForeignPages } from "./authorize.ts";
import { adminRoute, openRoute } from "./define-route.ts";
import { type Login, LoginRequest, SessionAnswer } from "./schemas/session.ts";
import { endedCookie, isSecure, sessionCookie, sessionToken } from "./session-cookie.ts";

const view = ({ name, role, project }: { name: string; role: string; project?: string }, csrf: string | null) => ({
  data: { operator: name, role, project: project ?? null, csrf },
});

export const openSession = openRoute({
  method: "POST",
  path: "/api/session",
  id: "openSession",
  summary: "Open a session for a browser; its cookie replaces the secret.",
  body: LoginRequest,
  answers: [{ ...json(SessionAnswer, "The response sets the session cookie."), status: 201 }],
  handle: async ({ request, connection, body }, { storage, gateway }, { access, logins, wrongSecrets, publicUrl }) => {
    const { address } = connection;
    refuseForeignPages(request.headers);
    logins.check(address);
    const opened = await openBy(body, access, address);
    if (opened === undefined) {
      logins.failed(address);
      await wrongSecrets.record({ address, by: body.link === undefined ? "secret" : "link" });
      const message =
        body.link === undefined
          ? "This is not the secret of an operator."
          : "This link was already used, or is older than ten minutes. Log in with the admin secret.";
      throw new GatewayError("unauthenticated", message, { code: "invalid_admin_secret" });
    }
    logins.succeeded(address);
    const { operator } = opened;
    const act = { ...actorOf(operator, connection), act: "session.open", target: operator.id };
    await recordAct(storage, operator.project === undefined ? act : { ...act, project: operator.project }, gateway);
    return Response.json(view(opened.operator, opened.csrf), {
      status: 201,
      headers: { "set-cookie": sessionCookie(opened.token, isSecure(publicUrl)), "cache-control": "no-store" },
    });
  },
});

function openBy({ secret, link }: Login, access: OperatorAccess, address: string): Promise<OpenedSession | undefined> {
  if (secret !== undefined && link === undefined) return access.open(secret, address);
  if (link !== undefined && secret === undefined) return access.openByLink(link, address);
  throw new GatewayError("invalid_request", "Send either `secret` or `link`.", { path: "secret" });
}

export const showSession = adminRoute({
  method: "GET",
  path: "/api/session",
  id: "showSession",
  summary: "Show the current operator, and the value for x-trivium-csrf.",
  roles: ROLES,
  answers: [json(SessionAnswer, "The operator.")],
  handle: ({ request: { headers }, operator }, _context, { publicUrl }) => {
    const token = headers.has("authorization") ? undefined : sessionToken(headers, publicUrl);
    return Response.json(view(operator, token === undefined ? null : csrfOf(token)), {
      headers: { "cache-control": "no-store" },
    });
  },
});

export const closeSession = adminRoute({
  method: "DELETE",
  path: "/api/session",
  id: "closeSession",
  summary: "End the session.",
  roles: ROLES,
  answers: [{ status: 204, description: "The session has ended." }],
  handle: async ({ request: { headers } }, _context, { access, publicUrl }) => {
    const token = headers.has("authorization") ? undefined : sessionToken(headers, publicUrl);
    if (token === undefined)
      throw new GatewayError(
        "invalid_request",
        "Session endpoints do not accept a secret: send the session cookie instead.",
      );
    await access.close(token);
    return new Response(null, { status: 204, headers: { "set-cookie": endedCookie(isSecure(publicUrl)) } });
  },
});
