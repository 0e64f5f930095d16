import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { Page } from "../../scripts/markdown-page.ts";
import { problemsOf, testPage } from "./test-page.ts";

const KEY = /^sk-trv-[\w-]{43}$/m;

testPage("docs/keys.md", {
  expected: {
    "keys rotate": (output) => {
      expect(output).toMatch(KEY);
      expect(output).toMatch(/ci +default .*requests_per_minute=60.*budget_usd_per_day=5/);
    },
    "$TRIVIUM_ADMIN_URL/api/keys": /"key": ?"sk-trv-/,
    "projects create": "team-a",
    "keys:create": /"key": ?"sk-trv-/,
  },
});

testPage("docs/budgets.md");

testPage("docs/end-users.md", {
  expected: {
    "x-trivium-user": (output) => {
      expect(output).toMatch(/^user-4711 +\d/m);
      expect(output).toMatch(/^user-4711 +1 /m);
    },
  },
});

testPage("docs/usage.md", {
  expected: {
    "--zone": "USD",
    "x-trivium-tags": (output) => {
      expect(output).toMatch(/^team-a +1 /m);
      expect(output).toMatch(/^feature=search +1 /m);
      expect(output).toMatch(/Total: \d+ calls, \d/);
      expect(output).toMatch(/^\d{4}-\d\d-\d\d +sim\/standard +1 /m);
    },
  },
});

testPage("docs/prices.md");
testPage("docs/providers.md");

testPage("docs/configuration.md", {
  expected: {
    // scripts/docs.test.ts compares it with what the program writes.
    "json log": '"msg":"call"',
    "yaml mistakes": (code) =>
      expect(`${problemsOf(code, {})}\n`).toBe(new Page("docs/configuration.md").one("text mistakes")),
    "yaml warnings": (code) =>
      expect(`${problemsOf(code)}\n`).toBe(new Page("docs/configuration.md").one("text warnings")),
    "text mistakes": "",
    "text warnings": "",
  },
});

testPage("docs/admin.md", {
  expected: {
    '"name":"batch"': /"key": ?"sk-trv-/,
    "operators create": (output) => {
      expect(output).toMatch(/^trv-op-[\w-]{43}$/m);
      expect(output).toMatch(/grafana +viewer/);
      expect(output).toContain("Revoked grafana");
    },
    "by=model,day": /"groups": ?\["sim\/standard"/,
    "receipts?limit=2": /"outcome": ?"ok"/,
    "cookies.txt": /"role": ?"admin"/,
    "receipts list": "answered",
    "keys list --url": /batch +default/,
  },
  before: async ({ gateway }) => {
    const body = JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content: "Hello" }] });
    const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body })).text();
  },
});

testPage("docs/operating.md", {
  expected: { "health --ready": /^ready$[\s\S]*simulator/m, "calls list": /^id +age_s +phase +model/m },
});

testPage("docs/security.md", { expected: { "--provider-objects": "default" } });

testPage("docs/cli.md");

testPage("docs/import.md", {
  config: "none",
  expected: { "import litellm": /Wrote trivium\.yaml[\s\S]*OK/ },
  before: (reader) => {
    const model =
      "{ model_name: gpt-4o, litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY } }";
    reader.write("config.yaml", `model_list: [${model}]\n`);
    reader.environment["OPENAI_API_KEY"] = "a-key";
  },
});

testPage("docs/exports.md", {
  config: () => ({ exports: [{ to: "file:./exports", format: "jsonl", every: "10m" }] }),
  expected: { "bin/trivium exports": "jsonl" },
});

testPage("docs/telemetry.md", { expected: { "operators create": /^trv-op-[\w-]{43}$/m } });

testPage("docs/recipes/langfuse.md");
testPage("docs/recipes/datadog.md");
testPage("docs/scaling.md");

testPage("docs/deploy.md", {
  expected: {
    nginx: (code) => {
      const { server } = Bun.YAML.parse(new Page("docs/deploy.md").one("yaml")) as { server: { public_url: string } };
      expect(code).toContain(`server_name ${new URL(server.public_url).host};`);
    },
    "sh stopped": /[Rr]estored/,
    "bin/trivium backup": (output, { folder }) => {
      expect(output).toContain("Backed up to");
      const copy = join(folder, "trivium-2026-11-16/trivium.db");
      expect(statSync(copy).mode & 0o777).toBe(0o600);
      const database = new Database(copy, { readonly: true });
      expect(database.query("SELECT name FROM api_keys").all()).toEqual([{ name: "first" }]);
      database.close();
    },
  },
});
