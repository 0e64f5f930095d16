import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programsPresent } from "../testing/is-present.ts";
import { CertifiedProvider } from "./oidc/certified-provider.ts";
import { adminPlace, startPeopleGateway } from "./oidc/people-gateway.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import type { TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/people.md");
const canPaste = programsPresent("shell examples of docs/people.md", "curl", "grep", "head", "xargs");

let provider: CertifiedProvider;
let gateway: TestGateway;
let folder: ExampleFolder;

beforeAll(async () => {
  const place = adminPlace();
  provider = await CertifiedProvider.start([place.callback]);
  gateway = await startPeopleGateway(provider.url, place.port);
  folder = new ExampleFolder({
    TRIVIUM_URL: gateway.url,
    TRIVIUM_ADMIN_URL: gateway.adminUrl,
    TRIVIUM_ADMIN_SECRET: gateway.adminSecret,
    TRIVIUM_CONFIG: gateway.configFile,
    ISSUER: provider.url,
    TOKEN: await provider.serviceToken(),
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
  folder.remove();
});

describe("docs/people.md", () => {
  test("every block is run here, or read by scripts/docs.test.ts", () => {
    expect(page.counts()).toEqual({ sh: 3, yaml: 2 });
  });

  test.skipIf(!canPaste)("a client calls a model with a token", async () => {
    const answer = JSON.parse(await folder.shell(page.one("sh", "$TOKEN"))) as { object: string };
    expect(answer.object).toBe("chat.completion");
  });

  test.skipIf(!canPaste)("a subject is revoked with the Admin API and from the command line", async () => {
    const said = await folder.shell(page.one("sh", "subjects revoke"));
    expect(said).toContain('"sessions":0');
    expect(said).toContain("Tokens of alice issued until");
    expect(said).toMatch(/alice +- +http:\/\/127\.0\.0\.1:\d+/);
  });

  test.skipIf(!canPaste)("a session is listed and ended from the command line", async () => {
    const body = JSON.stringify({ secret: gateway.adminSecret });
    const headers = { "content-type": "application/json" };
    const opened = await fetch(`${gateway.adminUrl}/api/session`, { method: "POST", headers, body });
    const [cookie = ""] = (opened.headers.get("set-cookie") ?? "").split(";");
    const said = await folder.shell(page.one("sh", "sessions end"));
    expect(said).toMatch(/ses_[0-9a-f]{24} +admin +admin/);
    expect(said).toMatch(/Ended the session ses_[0-9a-f]{24} of admin/);
    expect((await fetch(`${gateway.adminUrl}/api/session`, { headers: { cookie } })).status).toBe(401);
  });
});
