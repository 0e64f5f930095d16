import { describe, expect, test } from "bun:test";
import { readConfig } from "../app/read-config.ts";
import { ConfigError } from "./load.ts";

const OIDC = {
  issuer: "https://login.example.com",
  client_id: "trivium",
  client_secret: "a-client-secret",
  roles: [{ group: "platform", role: "admin" }],
};
const JWT = { issuer: "https://login.example.com", audience: "trivium", project: "default" };
const SECRET = "a-shared-secret-of-at-least-32-bytes";

function read(sections: object) {
  try {
    return readConfig({ text: JSON.stringify(sections), cwd: "/nowhere", environment: {} });
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems.map(({ message }) => message);
    throw thrown;
  }
}

describe("decision 0120: admin.oidc", () => {
  test("is read with its defaults, and its secret is not printed", () => {
    const config = read({ admin: { oidc: OIDC } });
    expect(config).toMatchObject({
      admin: { oidc: { clientId: "trivium", groupsClaim: "groups", scopes: ["openid", "profile", "email"] } },
    });
    expect(JSON.stringify(config)).not.toContain("a-client-secret");
  });

  test.each([
    [{ issuer: "http://login.example.com" }, "admin.oidc.issuer must be an https URL, or http on loopback"],
    [{ issuer: "http://127.0.0.1.example.com" }, "admin.oidc.issuer must be an https URL, or http on loopback"],
    [{ roles: [] }, "admin.oidc.roles must be"],
    [{ roles: [{ group: "a", role: "project" }] }, "admin.oidc.roles[0] requires project"],
    [{ roles: [{ group: "a", role: "admin", project: "x" }] }, "admin.oidc.roles[0] cannot have project"],
    [{ client_secret: undefined }, "admin.oidc requires client_secret"],
    [{ grups_claim: "x" }, "did you mean groups_claim?"],
  ])("%j is refused", (changes, message) => {
    expect(read({ admin: { oidc: { ...OIDC, ...changes } } })).toEqual([expect.stringContaining(message)]);
  });

  test("http is accepted on loopback", () => {
    for (const issuer of ["http://127.0.0.1:9000", "http://localhost:9000/realms/a", "http://[::1]:9000"])
      expect(read({ admin: { oidc: { ...OIDC, issuer } } })).toMatchObject({ admin: { oidc: { issuer } } });
  });
});

describe("decision 0121: auth.jwt", () => {
  test("is read with its defaults", () => {
    expect(read({ auth: { jwt: [JWT] } })).toMatchObject({ auth: { jwt: [{ ...JWT, models: ["*"], limits: {} }] } });
  });

  test.each([
    [[{ ...JWT, project: undefined }], "auth.jwt[0] requires either project or project_claim"],
    [[{ ...JWT, project_claim: "team" }], "auth.jwt[0] requires either project or project_claim"],
    [[JWT, { ...JWT, audience: "other" }], "auth.jwt[1].issuer must be unique"],
    [[{ ...JWT, issuer: "http://login.example.com" }], "auth.jwt[0].issuer must be an https URL"],
    [[{ ...JWT, jwks_url: "http://10.0.0.1/keys" }], "auth.jwt[0].jwks_url must be an https URL"],
    [[{ ...JWT, algorithms: ["none"] }], "auth.jwt[0].algorithms[0] must be"],
    [[{ ...JWT, algorithms: ["HS256"] }], "auth.jwt[0] requires secret for HMAC algorithms"],
    [[{ ...JWT, algorithms: ["HS256", "RS256"], secret: SECRET }], "must not mix HMAC with other algorithms"],
    [[{ ...JWT, secret: SECRET }], "auth.jwt[0].secret is only for HMAC"],
    [[{ ...JWT, algorithms: ["HS256"], secret: "short" }], "auth.jwt[0].secret must be"],
    [[{ ...JWT, limits: { requests_per_minut: 1 } }], "did you mean requests_per_minute?"],
    [[{ ...JWT, audience: undefined }], "auth.jwt[0] requires audience"],
  ])("%j is refused", (jwt, message) => {
    expect(read({ auth: { jwt } })).toEqual([expect.stringContaining(message)]);
  });
});
