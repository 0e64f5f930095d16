import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BUCKET, startS3 } from "../src/files/s3-server.sample.ts";
import { isPresent } from "../testing/is-present.ts";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { callGateway } from "./support/client-calls.ts";
import { runProgram } from "./support/program.ts";
import { readMetrics } from "./support/read-metrics.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

interface ShownExport {
  name: string;
  state: string;
  rows: number;
  files: number;
  failures: number;
  lag_seconds: number | null;
  error: string | null;
  last_file: { name: string; rows: number } | null;
}

const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => Response.json(plainAnswer("chat", { text: "yes", usage: plainUsage("chat", 10, 5) })),
});
const s3 = await startS3();
/** Nothing listens on it. */
const deadPort = 1;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    config: {
      ...scriptedModels(`http://127.0.0.1:${provider.port}`),
      exports: [
        { to: "file:./exported", format: "jsonl", every: "1h" },
        { name: "costs", to: "file:./exported", format: "focus", every: "1h" },
        { name: "bucket", to: `s3://${BUCKET}/receipts`, format: "parquet", every: "1h" },
      ],
    },
    environment: s3?.environment ?? {
      S3_ENDPOINT: `http://127.0.0.1:${deadPort}`,
      S3_ACCESS_KEY_ID: "test",
      S3_SECRET_ACCESS_KEY: "test",
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([provider.stop(true), s3?.stop()]);
  rmSync(gateway.folder, { recursive: true, force: true });
});

const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };

async function call(): Promise<string> {
  const answer = await callGateway(gateway.url, "chat", gateway.key, {
    body: { messages: [{ role: "user", content: "Hi" }], max_completion_tokens: 5 },
  });
  expect(answer.status).toBe(200);
  await answer.text();
  return answer.headers.get("x-trivium-receipt") ?? "";
}

async function admin(path: string, method = "GET"): Promise<{ status: number; data: unknown }> {
  const answer = await fetch(gateway.adminUrl + path, { method, headers });
  return { status: answer.status, data: ((await answer.json()) as { data: unknown }).data };
}
const run = async (name: string) => (await admin(`/api/exports/${name}/run`, "POST")).data as ShownExport;
const filesIn = (end: string): string[] =>
  readdirSync(join(gateway.folder, "exported")).filter((name) => name.endsWith(end));
const linesIn = (end: string): string[] =>
  filesIn(end).flatMap((name) =>
    readFileSync(join(gateway.folder, "exported", name), "utf8")
      .trimEnd()
      .split(/\r?\n/),
  );
const command = (...args: string[]) =>
  runProgram(args, {
    cwd: gateway.folder,
    env: { TRIVIUM_ADMIN_URL: gateway.adminUrl, TRIVIUM_ADMIN_SECRET: TEST_ADMIN_SECRET },
  });

describe("docs/exports.md", () => {
  test("each export writes the receipts of calls to its own files", async () => {
    const ids = [await call(), await call()];
    const jsonl = await run("exported-jsonl");
    expect(jsonl).toMatchObject({ state: "waiting", rows: 2, files: 1, failures: 0, error: null });
    expect(
      linesIn(".jsonl")
        .map((line) => (JSON.parse(line) as { id: string }).id)
        .sort(),
    ).toEqual([...ids].sort());
    await run("costs");
    const [header = "", ...rows] = linesIn(".focus.csv");
    expect(header.split(",")).toContain("x_receipt");
    for (const id of ids) expect(rows.filter((row) => row.includes(id))).toHaveLength(1);
  });

  test("the CLI lists and runs exports, and names an unknown one", async () => {
    await call();
    const ran = await command("exports", "run", "exported-jsonl");
    expect(ran.stdout).toMatch(/^The export exported-jsonl is up to date\. Last file: receipts-.*\.jsonl\n$/);
    const listed = await command("exports");
    expect(listed.stdout).toMatch(/^name +format +state +lag +rows +files +last_file +error\n/i);
    expect(listed.stdout).toContain("exported-jsonl");
    const unknown = await command("exports", "run", "none");
    expect(unknown.stderr).toContain('There is no export "none"');
    expect(unknown.code).toBe(1);
  });

  test("metrics show the lag, rows, files and failures of each export", async () => {
    const metrics = readMetrics(await (await fetch(`${gateway.adminUrl}/metrics`, { headers })).text());
    const of = (wanted: string) =>
      metrics.find(({ name, labels }) => name === wanted && labels["export"] === "exported-jsonl")?.value;
    expect(of("trivium_export_rows_total")).toBe(3);
    expect(of("trivium_export_files_total")).toBe(2);
    expect(of("trivium_export_failures_total")).toBe(0);
    expect(of("trivium_export_lag_seconds")).toBeLessThan(60);
  });

  test.skipIf(!isPresent(s3 !== undefined, 'exports to a bucket (pip install "moto[s3,server]")'))(
    "a bucket gets whole objects below its prefix",
    async () => {
      expect(await run("bucket")).toMatchObject({ state: "waiting", files: 1, rows: 3, error: null });
      const client = new Bun.S3Client({
        endpoint: s3?.environment["S3_ENDPOINT"] ?? "",
        bucket: BUCKET,
        accessKeyId: "test",
        secretAccessKey: "test",
      });
      const listed = await client.list({ prefix: "receipts/" });
      const [object] = listed.contents ?? [];
      expect(listed.contents).toHaveLength(1);
      const bytes = Buffer.from(await client.file(object?.key ?? "").arrayBuffer());
      expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(["PAR1", "PAR1"]);
    },
  );

  test.skipIf(!isPresent(s3 !== undefined, 'an unreachable bucket (pip install "moto[s3,server]")'))(
    "H29: while a bucket is gone, the export fails with the reason, and the gateway stays ready",
    async () => {
      await s3?.stop();
      await call();
      for (let count = 1; count <= 3; count++)
        expect(await run("bucket")).toMatchObject({ state: "failing", failures: count });
      const [, , shown] = (await admin("/api/exports")).data as ShownExport[];
      expect(shown?.error).toContain(`s3://${BUCKET}/receipts/`);
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
      expect((await command("exports", "run", "bucket")).code).toBe(1);
    },
    60_000,
  );
});
