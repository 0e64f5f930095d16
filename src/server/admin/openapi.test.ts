import { describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { adminDocument } from "./openapi.ts";
import { ADMIN_ROUTES } from "./routes.ts";

interface Operation {
  operationId: string;
  security: object[];
  "x-roles"?: string[];
  parameters?: { name: string; in: string }[];
  requestBody?: object;
  responses: Record<string, object>;
}

const document = JSON.parse(
  JSON.stringify(adminDocument(ADMIN_ROUTES, { url: "http://127.0.0.1:8788", version: "1.2.3" })),
) as { paths: Record<string, Record<string, Operation>> };

describe("choices 10: the Admin API's own document", () => {
  test("is a valid OpenAPI 3.1 document whose references resolve", async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
    for (const path of new Set(references)) {
      const found = path
        .split("/")
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
      expect([path, found === undefined]).toEqual([path, false]);
    }
  });

  test("describes every route of the table, with its roles, and no other", () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { "x-roles": roles, security }]) => {
        expect(security.length).toBe(roles === undefined ? 0 : 2);
        return [`${method.toUpperCase()} ${path}`, roles ?? "open"];
      }),
    );
    const declared = ADMIN_ROUTES.map(({ method, path, roles }) => [
      `${method} ${path}`,
      roles === "open" ? roles : [...roles],
    ]);
    expect(described.sort()).toEqual(declared.sort());
  });

  test("names each operation once, and the x-trivium-csrf header of every change", () => {
    const operations = Object.values(document.paths).flatMap((item) => Object.entries(item));
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [method, { parameters = [], security, operationId }] of operations) {
      const names = parameters.map(({ name }) => name);
      expect([operationId, names.includes("x-trivium-csrf")]).toEqual([
        operationId,
        method !== "get" && security.length > 0,
      ]);
    }
  });

  test("is served without a secret", async () => {
    const admin = await AdminHarness.start();
    const { status, json } = await admin.ask("GET", "/openapi.json");
    expect([status, json["paths"]]).toEqual([200, document.paths]);
  });
});

describe("bad input: clear 400s, whatever a query contains", () => {
  const withQuery = ADMIN_ROUTES.filter(({ roles }) => roles !== "open");
  const long = "x".repeat(1_000_000);

  test.each(withQuery.map((route) => [`${route.method} ${route.path}`, route] as const))("%s", async (_name, route) => {
    const admin = await AdminHarness.start();
    const path = route.path.replaceAll(/\{\w+\}/g, "none");
    const send = (query: string) =>
      admin.ask(route.method, `${path}?${query}`, {
        secret: ADMIN_SECRET,
        ...(route.body === undefined ? {} : { body: {} }),
      });
    const fields = Object.keys(route.query);
    const queries = [
      "nonsense=1",
      "__proto__=1",
      "constructor=1",
      `${long}=1`,
      ...fields.flatMap((field) => [
        `${field}=`,
        `${field}=${long}`,
        `${field}=%00`,
        `${field}=%ff%fe`,
        `${field}=%0d%0aset-cookie:x`,
        `${field}=1&${field}=2`,
      ]),
      ...(fields.includes("limit") ? ["-1", "0", "1.5", "501", "1e2", "NaN", "９"].map((bad) => `limit=${bad}`) : []),
      ...(fields.includes("from") ? ["yesterday", "2026-02-30", "-1", "99999-01-01"].map((bad) => `from=${bad}`) : []),
      ...(fields.includes("min_cost") ? ["-1", "1e3", "NaN", "9999999"].map((bad) => `min_cost=${bad}`) : []),
    ];
    for (const query of queries) {
      const { status, json, text } = await send(query);
      const shown = query.slice(0, 40);
      expect([shown, status]).toEqual([shown, 400]);
      expect([shown, (json["error"] as { message: string }).message.length > 10]).toEqual([shown, true]);
      expect(text.length).toBeLessThan(2_000);
    }
  });

  test.each(["%00", "%ff", "a".repeat(300), "%0a", "%F0%9F"])("a path with %s in the place of an id", async (id) => {
    const admin = await AdminHarness.start();
    const { status } = await admin.ask("DELETE", `/api/keys/${id}`, { secret: ADMIN_SECRET });
    expect([400, 404]).toContain(status);
  });
});
