import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ADMIN_ROUTES } from "../src/server/admin/routes.ts";
import { programsPresent } from "../testing/is-present.ts";
import { callGateway } from "./support/client-calls.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

// Examples start programs, possibly on a slow machine.

const page = new Page("docs/admin.md");
const canPaste = programsPresent("shell examples of docs/admin.md", "curl", "sed");

let gateway: TestGateway;
let folder: ExampleFolder;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
  folder = new ExampleFolder({
    TRIVIUM_URL: gateway.url,
    TRIVIUM_API_KEY: gateway.key,
    TRIVIUM_ADMIN_URL: gateway.adminUrl,
    TRIVIUM_ADMIN_SECRET: gateway.adminSecret,
    TRIVIUM_CONFIG: gateway.configFile,
  });
  await (await callGateway(gateway.url, "chat", gateway.key, { model: "sim/standard" })).text();
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

/** Each line of output that is JSON. */
const answersIn = (text: string) =>
  text
    .split("\n")
    .flatMap((line) => line.split(/(?<=\})(?=\{)/))
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("docs/admin.md", () => {
  test("its table lists every endpoint of the program with its roles", () => {
    const shown = page.rowsUnder("endpoint", "roles", "what it does").map(([endpoint = "", roles]) => {
      return [endpoint.replaceAll("`", ""), roles];
    });
    const declared = ADMIN_ROUTES.map(({ method, path, roles }) => [
      `${method} ${path}`,
      roles === "open" ? "open" : roles.join(", "),
    ]);
    expect(shown.toSorted()).toEqual(declared.toSorted());
  });

  test("every block is run here", () => {
    expect(page.counts()).toEqual({ sh: 7 });
  });

  test("operators are created, listed and revoked", async () => {
    const said = await folder.shell(page.one("sh", "operators create"));
    expect(said).toMatch(/^trv-op-[\w-]{43}$/m);
    expect(said).toMatch(/grafana +viewer/);
    expect(said).toContain("Revoked grafana");
  });

  test.skipIf(!canPaste)("the curl commands work", async () => {
    const [created] = answersIn(await folder.shell(page.one("sh", '"name":"batch"')));
    expect(created?.["data"]).toMatchObject({ key: expect.stringMatching(/^sk-trv-/) });
    const answers = answersIn(await folder.shell(page.one("sh", "by=model,day")));
    const [usage, overview, row, tested] = [answers[0], answers[1], answers[2], answers.at(-1)];
    expect(usage?.["data"]).toMatchObject([{ groups: ["sim/standard", expect.any(String)], calls: 1 }]);
    expect(overview?.["data"]).toMatchObject({ total: { calls: 1, failures: 0 } });
    expect(row).toMatchObject({ model: "sim/standard" });
    expect(tested?.["data"]).toMatchObject({ provider: "simulator", ok: true });
    const [listed] = answersIn(await folder.shell(page.one("sh", "/api/receipts?limit=2")));
    expect(listed).toMatchObject({ data: [{ outcome: "ok" }, { outcome: "ok" }] });
  });

  test.skipIf(!canPaste)("the session is opened, shown and closed", async () => {
    const answers = answersIn(await folder.shell(page.one("sh", "cookies.txt")));
    expect(answers).toMatchObject([{ data: { operator: "admin", role: "admin" } }]);
  });

  test("the commands call the running gateway", async () => {
    const said = await folder.shell(page.one("sh", "receipts list"));
    expect(said).toContain("sim/standard");
    expect(said).toContain("answered");
    await folder.shell("bin/trivium keys create --name listed");
    const listed = await folder.shell(page.one("sh", "keys list --url"));
    expect(listed).toMatch(/listed +default/);
  });
});
