import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./load.ts";
import { restartFields } from "./restart-fields.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-restart-"));

function load(yaml: string) {
  writeFileSync(join(folder, "trivium.yaml"), yaml);
  return loadConfig({
    cwd: folder,
    environment: {},
    kinds: new Map(),
    prices: { has: () => true, near: () => undefined },
    models: { has: () => true, near: () => undefined },
  });
}

test("docs/configuration.md, Reload: every field that needs a restart is named, and no other", () => {
  const started = load("simulator: true\n");
  const changes: [string, string[]][] = [
    ["simulator: true", []],
    ["server: { max_body_mb: 1, public_url: http://a.example }\nproviders: {}", []],
    ["models: [{ id: a/b }]\nkeys: [{ name: a, key: a-key-of-the-configuration }]", []],
    ["server: { host: 0.0.0.0, port: 9000, drain_seconds: 1 }", ["server.host", "server.port", "server.drain_seconds"]],
    [
      "admin: { host: 0.0.0.0, port: 9001, secret: hidden-hidden-hidden-hidden-hidden }",
      ["admin.host", "admin.port", "admin.public_url", "admin.secret"],
    ],
    ["data_dir: ./other\nstorage: sqlite:./data/trivium.db\nfiles: ./data/files", ["data_dir"]],
    ["storage: sqlite:./else.db\nfiles: ./else", ["storage", "files"]],
    [
      "retention: { hours: 1, max_file_mb: 1, max_total_mb: 1, max_project_mb: 1 }",
      ["retention.hours", "retention.max_file_mb", "retention.max_total_mb", "retention.max_project_mb"],
    ],
    [
      "objects: { max_file_mb: 1, project_mb: 1, default_days: 1 }",
      ["objects.max_file_mb", "objects.project_mb", "objects.default_days"],
    ],
    ["batch: { mode: own }", ["batch.mode"]],
    ["batch: { max_concurrent: 1 }", ["batch.max_concurrent"]],
    ["batch: { assumed_output_tokens: 1 }", ["batch.assumed_output_tokens"]],
    [
      "responses: { store: false, retention_hours: 1, max_mb: 1 }",
      ["responses.store", "responses.retention_hours", "responses.max_mb"],
    ],
    ["simulator: false", ["simulator"]],
  ];
  for (const [yaml, fields] of changes) expect(restartFields(started, load(yaml))).toEqual(fields);
  const secret = load("admin: { secret: hidden-hidden-hidden-hidden-hidden }");
  expect(restartFields(secret, load("admin: { secret: hidden-hidden-hidden-hidden-hidden }"))).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});
