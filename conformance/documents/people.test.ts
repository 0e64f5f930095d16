import { afterAll, beforeAll, expect } from "bun:test";
import { CertifiedProvider } from "../oidc/certified-provider.ts";
import { adminPlace, oidcSection } from "../oidc/people-gateway.ts";
import { testPage } from "./test-page.ts";

let provider: CertifiedProvider;
const place = adminPlace();
beforeAll(async () => {
  provider = await CertifiedProvider.start([place.callback]);
});
afterAll(() => provider.stop());

testPage("docs/people.md", {
  config: () => ({
    admin: { port: place.port, oidc: oidcSection(provider.url) },
    auth: { jwt: [{ issuer: provider.url, audience: "trivium", project_claim: "team" }] },
  }),
  before: async ({ gateway, environment }) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ secret: gateway.adminSecret });
    await fetch(`${gateway.adminUrl}/api/session`, { method: "POST", headers, body });
    Object.assign(environment, { ISSUER: provider.url, TOKEN: await provider.serviceToken() });
  },
  expected: {
    $TOKEN: (output) => expect(JSON.parse(output)).toMatchObject({ object: "chat.completion" }),
    "subjects revoke": (output) => {
      expect(output).toContain('"sessions":0');
      expect(output).toContain("Tokens of alice issued until");
      expect(output).toMatch(/alice +- +http:\/\/127\.0\.0\.1:\d+/);
    },
    "sessions end": (output) => {
      expect(output).toMatch(/ses_[0-9a-f]{24} +admin +admin/);
      expect(output).toMatch(/Ended the session ses_[0-9a-f]{24} of admin/);
    },
  },
});
