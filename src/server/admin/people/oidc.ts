import { type Actor, recordAct } from "../../../access/audit.ts";
import { type OpenedSession, PERSON_SESSION_MS } from "../../../access/operator-access.ts";
import { personId, roleOf } from "../../../access/people/person.ts";
import { findProject } from "../../../access/projects.ts";
import { asGatewayError, GatewayError } from "../../../canon/error.ts";
import type { StoredPerson } from "../../../storage/tables/operator-sessions.ts";
import { json } from "../../openapi/operation.ts";
import type { RoutedRequest, ServerContext } from "../../routed-request.ts";
import { actorOf } from "../actor.ts";
import { type AdminParts, openRoute } from "../define-route.ts";
import { LoginWaysAnswer } from "../schemas/session.ts";
import { endedLoginCookie, isSecure, loginCookie, loginCookieOf, sessionCookie } from "../session-cookie.ts";
import { loginPage } from "./login-page.ts";

export const showLoginWays = openRoute({
  method: "GET",
  path: "/api/session/ways",
  id: "showLoginWays",
  summary: "Show how operators can log in: with a secret, and at an issuer if one is configured.",
  answers: [json(LoginWaysAnswer, "The ways to log in, and why one is not available.")],
  handle: async (_call, _context, { oidc }) => ({ data: { secret: true, oidc: (await oidc.condition()) ?? null } }),
});

export const beginOidc = openRoute({
  method: "GET",
  path: "/api/session/oidc",
  id: "beginOidcLogin",
  summary: "Begin a login at the issuer (admin.oidc). Open it in a browser.",
  ignoresUnknownParameters: true,
  answers: [{ status: 302, description: "To the issuer, with a cookie for this login." }],
  handle: ({ request }, _context, parts) =>
    forPeople(request, parts, async () => {
      const { url, cookie } = await parts.oidc.begin();
      const seconds = Math.floor(parts.oidc.lastsMs / 1000);
      return redirect(302, url, [loginCookie(cookie, isSecure(parts.publicUrl), seconds)]);
    }),
});

export const finishOidc = openRoute({
  method: "GET",
  path: "/api/session/oidc/callback",
  id: "finishOidcLogin",
  summary: "The address to which the issuer sends the browser back.",
  // Issuers add parameters of their own.
  ignoresUnknownParameters: true,
  answers: [{ status: 303, description: "To the console, with the cookie of a session." }],
  handle: ({ request, connection }, context, parts) =>
    forPeople(request, parts, async () => {
      const { token } = await logIn(request, connection, context, parts);
      const secure = isSecure(parts.publicUrl);
      return redirect(303, "/#signed-in", [sessionCookie(token, secure, PERSON_SESSION_MS), endedLoginCookie(secure)]);
    }),
});

/** Each step ends the login if it fails: a code is sent to the issuer at most once. */
async function logIn(
  { url, headers }: Request,
  connection: RoutedRequest["connection"],
  { storage, gateway }: ServerContext,
  { oidc, access, wrongSecrets, publicUrl }: AdminParts,
): Promise<OpenedSession> {
  const { address } = connection;
  let person: StoredPerson;
  try {
    const login = oidc.inProgress(loginCookieOf(headers, publicUrl));
    const response = await oidc.check(login, new URL(url, publicUrl).searchParams);
    if (!(await access.useLogin(login))) throw usedBefore();
    person = await oidc.finish(login, response);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.kind === "unauthenticated" || error.kind === "forbidden")
      await wrongSecrets.record({ address, by: "oidc" });
    throw error;
  }
  const found = roleOf(person, oidc.people);
  const exists = found?.project === undefined || (await isActive(found.project, { storage, gateway }));
  const opened = exists ? await access.openForPerson(person, address) : undefined;
  if (opened === undefined) {
    const { issuer, subject, name } = person;
    const what = exists ? "no group with a role" : `a role of the project ${found?.project}, which does not exist`;
    const after = { issuer, subject, name, reason: what };
    await wrongSecrets.record({ address, by: "oidc", target: personId(person), after });
    throw noRole(name, what);
  }
  const { operator } = opened;
  const actor: Actor = actorOf(operator, connection);
  const { issuer, subject } = person;
  const act = { ...actor, act: "session.open", target: operator.id, after: { issuer, subject, role: operator.role } };
  await recordAct(storage, operator.project === undefined ? act : { ...act, project: operator.project }, gateway);
  return opened;
}

async function isActive(project: string, { storage, gateway }: Pick<ServerContext, "storage" | "gateway">) {
  if (gateway.keys.configured.some((key) => key.project === project)) return true;
  try {
    return (await findProject(storage, project)).status !== "deleted";
  } catch (thrown) {
    if (asGatewayError(thrown).kind === "not_found") return false;
    throw thrown;
  }
}

/** A browser shows a page, everything else an error of the API. The login in progress is over. */
async function forPeople(
  request: Request,
  { publicUrl }: AdminParts,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.kind === "internal" || !(request.headers.get("accept") ?? "").includes("text/html")) throw thrown;
    return loginPage(error, endedLoginCookie(isSecure(publicUrl)));
  }
}

function redirect(status: number, location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "referrer-policy": "no-referrer" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status, headers });
}

const usedBefore = (): GatewayError =>
  new GatewayError("unauthenticated", "This login was already used. Start again.", { code: "login_failed" });

const noRole = (name: string, what: string): GatewayError =>
  new GatewayError(
    "forbidden",
    `You are logged in at the issuer as ${name}, but have ${what}. Ask an operator of this gateway for access.`,
    { code: "no_role" },
  );
