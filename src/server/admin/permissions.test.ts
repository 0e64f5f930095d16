import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness, type AdminRequest } from "../../../testing/admin-harness.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";
import { createKey } from "../../access/keys.ts";
import { revokeOperator } from "../../access/operators.ts";
import { ROLES, type Role } from "../../canon/role.ts";
import { ADMIN_ROUTES } from "./routes.ts";

const ALL = ROLES;
const READERS: readonly Role[] = ["admin", "viewer"];
const OF_KEYS: readonly Role[] = ["admin", "project"];

/** Who may use what. A route that is missing here fails the test, so that whoever adds one decides who may use it. */
const EXPECTED: Readonly<Record<string, readonly Role[] | "open">> = {
  "GET /healthz": "open",
  "GET /readyz": "open",
  "GET /metrics": READERS,
  "GET /openapi.json": "open",
  "POST /api/session": "open",
  "GET /api/session": ALL,
  "DELETE /api/session": ALL,
  "GET /api/session/ways": "open",
  "GET /api/session/oidc": "open",
  "GET /api/session/oidc/callback": "open",
  "GET /api/sessions": READERS,
  "DELETE /api/sessions/{id}": ["admin"],
  "GET /api/subjects": ALL,
  "POST /api/subjects/revoke": ["admin"],
  "GET /api/keys": ALL,
  "POST /api/keys": OF_KEYS,
  "GET /api/keys/{id}": ALL,
  "PATCH /api/keys/{id}": OF_KEYS,
  "DELETE /api/keys/{id}": OF_KEYS,
  "POST /api/keys/{id}/rotate": OF_KEYS,
  "GET /api/end_users": ALL,
  "GET /api/end_users/{id}": ALL,
  "PUT /api/end_users/{id}": ["admin"],
  "DELETE /api/end_users/{id}": ["admin"],
  "GET /api/projects": ALL,
  "POST /api/projects": ["admin"],
  "GET /api/projects/{id}": ALL,
  "PATCH /api/projects/{id}": ["admin"],
  "DELETE /api/projects/{id}": ["admin"],
  "GET /api/overview": READERS,
  "GET /api/receipts": READERS,
  "GET /api/receipts/{id}": READERS,
  "GET /api/receipts/{id}/bodies": OF_KEYS,
  "GET /api/exports": READERS,
  "POST /api/exports/{name}/run": ["admin"],
  "GET /api/alerts": READERS,
  "GET /api/alerts/settings": READERS,
  "POST /api/alerts/test": ["admin"],
  "POST /api/alerts/{id}/deliver": ["admin"],
  "GET /api/audit": READERS,
  "GET /api/providers": READERS,
  "GET /api/providers/kinds": READERS,
  "POST /api/providers/check": ["admin"],
  "POST /api/providers/{name}/test": ["admin"],
  "GET /api/models": READERS,
  "GET /api/catalogue/updates": READERS,
  "POST /api/catalogue/updates": ["admin"],
  "DELETE /api/catalogue/updates/{number}": ["admin"],
  "GET /api/prices": READERS,
  "GET /api/usage": ALL,
  "GET /api/usage/export": ALL,
  "GET /api/refusals": ALL,
  "GET /api/calls": ALL,
  "POST /api/calls/{receipt}/stop": OF_KEYS,
  "GET /api/live_sessions": ALL,
  "GET /api/guards": READERS,
  "POST /api/live_sessions/{id}/end": OF_KEYS,
  "POST /api/play": ["admin"],
  "GET /api/play": ["admin"],
  "GET /api/objects": ALL,
  "GET /api/operations": READERS,
  "POST /api/operations/{id}/cancel": ["admin"],
  "DELETE /api/objects/{id}": OF_KEYS,
  "GET /api/batches": ALL,
  "GET /api/batches/{id}": ALL,
  "POST /api/batches/{id}/cancel": OF_KEYS,
  "GET /api/events": READERS,
  "GET /api/config": READERS,
  "POST /api/config/check": ["admin"],
};

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, "none");

let admin: AdminHarness;
const secrets = {} as Record<Role, string>;
beforeAll(async () => {
  admin = await AdminHarness.start();
  await createKey(admin.gateway.storage, { name: "of red", project: "red" }, admin.gateway.gateway, { who: "test" });
  for (const role of ROLES) secrets[role] = await admin.operator(role, role === "project" ? "red" : undefined);
});
afterAll(() => admin.gateway.storage.close());

const send = (route: { method: string; path: string }, request: AdminRequest) =>
  admin.ask(route.method, pathOf(route.path), {
    ...request,
    ...(["POST", "PUT", "PATCH"].includes(route.method) ? { body: {} } : {}),
  });

const codeOf = (json: Record<string, unknown>) => (json["error"] as { code?: string } | undefined)?.code;

test("S04: every route of the Admin API is listed with its roles, and no other", () => {
  const declared = Object.fromEntries(ADMIN_ROUTES.map((route) => [nameOf(route), route.roles]));
  expect(declared).toEqual({ ...EXPECTED });
});

describe("S04, S08: every route and every role", () => {
  const closed = ADMIN_ROUTES.filter(({ roles }) => roles !== "open");

  for (const route of closed) {
    const allowed = EXPECTED[nameOf(route)] ?? [];
    test.each([...ROLES])(`${nameOf(route)} as %s`, async (role) => {
      const { status, json } = await send(route, { secret: secrets[role] });
      if (allowed.includes(role)) expect([401, 403]).not.toContain(status);
      else expect([status, codeOf(json)]).toEqual([403, "role_not_allowed"]);
    });

    test(`${nameOf(route)} with the admin secret`, async () => {
      expect([401, 403]).not.toContain((await send(route, { secret: ADMIN_SECRET })).status);
    });

    test(`${nameOf(route)} without a valid secret`, async () => {
      const revoked = await admin.operator("admin");
      const found = await admin.parts.access.bySecret(revoked);
      await revokeOperator(admin.gateway.storage, found?.id ?? "", admin.gateway.gateway, { who: "tests" });
      for (const request of [
        {},
        { secret: "wrong" },
        { secret: TEST_KEY },
        { secret: revoked },
        { secret: "x".repeat(100_000) },
        { headers: { authorization: ADMIN_SECRET } },
        { headers: { authorization: "Bearer " } },
        { headers: { authorization: `Basic ${btoa(`admin:${ADMIN_SECRET}`)}` } },
        { cookie: "trv_session=none" },
        { cookie: `trv_session=${"A".repeat(43)}` },
        { cookie: ADMIN_SECRET },
        { headers: { authorization: "Bearer wrong" }, cookie: (await admin.login(ADMIN_SECRET)).cookie },
      ]) {
        expect((await send(route, request)).status).toBe(401);
      }
    });

    test(`${nameOf(route)} with an expired session`, async () => {
      const session = await admin.login(ADMIN_SECRET);
      await admin.clock.pass(12 * 3_600_000 + 1);
      expect((await send(route, session)).status).toBe(401);
    });

    test(`${nameOf(route)} with a session: a change needs the right x-trivium-csrf`, async () => {
      const { cookie, csrf } = await admin.login(ADMIN_SECRET);
      const { csrf: another } = await admin.login(ADMIN_SECRET);
      for (const wrong of [undefined, "", "wrong", another, csrf.toUpperCase()]) {
        const request = wrong === undefined ? { cookie } : { cookie, csrf: wrong };
        const { status, json } = await send(route, request);
        if (route.method === "GET") expect(status).not.toBe(403);
        else expect([status, codeOf(json)]).toEqual([403, "invalid_csrf"]);
      }
      expect([401, 403]).not.toContain((await send(route, { cookie, csrf })).status);
    });
  }
});
