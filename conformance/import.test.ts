import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "./support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-import-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const target = join(folder, "trivium.yaml");

writeFileSync(
  join(folder, "config.yaml"),
  `model_list:
  - model_name: gpt-4o
    litellm_params: { model: azure/gpt-4o-eu, api_base: https://eu.openai.azure.com/, api_key: os.environ/AZURE_EU_KEY, rpm: 6 }
  - model_name: local
    litellm_params: { model: openai/llama, api_base: http://127.0.0.1:9/v1, api_key: none, temperature: 0.5 }
litellm_settings: { success_callback: [langfuse] }
general_settings: { master_key: sk-1234, database_url: "postgresql://u:a-password@db/x" }
`,
);
writeFileSync(join(folder, "broken.yaml"), "model_list: [\n  - model_name: *\n");

const run = (...args: string[]) => runProgram(args, { cwd: folder, env: { AZURE_EU_KEY: "key" } });

test("docs/import.md: the output names everything, and trivium check accepts the file", async () => {
  const imported = await run("import", "litellm", "config.yaml");
  expect(imported.stderr).toBe("");
  expect(imported.code).toBe(0);
  for (const part of [
    "Wrote trivium.yaml",
    "model_list[0]: gpt-4o at provider azure-openai as gpt-4o-eu",
    "model_list[0].litellm_params.rpm: is the weight of the offer here, not a limit",
    "model_list[1].litellm_params.temperature: is a default of requests",
    "litellm_settings.success_callback: langfuse: send traces over OTLP: docs/recipes/langfuse.md",
    "general_settings.master_key: has fewer than 20 characters",
    "general_settings.database_url: Trivium has its own database",
  ])
    expect(imported.stdout).toContain(part);
  expect(imported.stdout).not.toContain("a-password");
  expect(statSync(target).mode & 0o777).toBe(0o600);
  const checked = await run("check");
  expect(checked.code).toBe(0);
  expect(checked.stdout).toContain("OK");
});

test("docs/import.md: an existing file is never replaced", async () => {
  const before = readFileSync(target, "utf8");
  const again = await run("import", "litellm", "config.yaml");
  expect([again.code, again.stdout]).toEqual([1, ""]);
  expect(again.stderr).toContain("trivium.yaml already exists");
  expect(readFileSync(target, "utf8")).toBe(before);
});

test("docs/import.md: JSON lists what is still to do; mistakes write nothing", async () => {
  rmSync(target);
  for (const [args, code, said] of [
    [["import"], 2, 'Missing or unknown source ""'],
    [["import", "constructor", "config.yaml"], 2, "Use one of litellm, bifrost, new-api"],
    [["import", "litellm"], 2, "Missing file"],
    [["import", "litellm", "gone.yaml"], 1, "Cannot read gone.yaml: ENOENT"],
    [["import", "litellm", "broken.yaml"], 1, "broken.yaml is not valid YAML or JSON"],
  ] as const) {
    const wrong = await run(...args);
    expect([wrong.code, wrong.stderr]).toEqual([code, expect.stringContaining(said)]);
    expect(existsSync(target)).toBe(false);
  }
  const imported = await runProgram(["import", "litellm", "config.yaml", "--json"], { cwd: folder });
  const shown = JSON.parse(imported.stdout) as {
    file: string;
    taken: unknown[];
    not_taken: unknown[];
    problems: string[];
  };
  expect(shown.file).toBe("trivium.yaml");
  expect(shown.taken).toHaveLength(2);
  expect(shown.problems).toEqual([expect.stringContaining("AZURE_EU_KEY, which is not set")]);
}, 30_000);
