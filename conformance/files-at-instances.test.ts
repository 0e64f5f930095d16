import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { PlayedFilesHost } from "../testing/hosts/files-host.ts";
import { isPresent } from "../testing/is-present.ts";
import { startPostgres } from "../testing/postgres.ts";
import { startRedis } from "../testing/redis.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { CrashingGateway } from "./crashes/crashing-gateway.ts";
import { makeDatabase, postgresServer } from "./support/postgres-database.ts";
import { TEST_ADMIN_SECRET } from "./support/test-gateway.ts";

const MEGABYTE = 1024 * 1024;
const [postgres, redis] = await Promise.all([
  postgresServer === undefined ? startPostgres() : makeDatabase(),
  startRedis(),
]);
const arePresent = isPresent(
  postgres !== undefined && redis !== undefined,
  "files at several instances: PostgreSQL or Redis not installed",
);

const folder = mkdtempSync(join(tmpdir(), "trivium-files-instances-"));
const host = await new PlayedFilesHost().start();
const instances = ["one", "two"].map((name) => {
  mkdirSync(join(folder, name));
  const models = scriptedModels(host.url, { first_byte: 60_000, idle: 60_000 });
  const providers = Object.entries(models["providers"] as Record<string, object>);
  return new CrashingGateway({
    folder: join(folder, name),
    workers: 0,
    config: {
      ...models,
      providers: Object.fromEntries(providers.map(([provider, one]) => [provider, { ...one, files: true }])),
      server: { port: freePort() },
      admin: { port: freePort(), secret: TEST_ADMIN_SECRET },
      storage: String(postgres?.url ?? ""),
      redis: redis?.url ?? "",
      files: join(folder, "files"),
      simulator: false,
      log: { calls: "off" },
    },
  });
});
const [one, two] = instances as [CrashingGateway, CrashingGateway];

beforeAll(async () => {
  if (arePresent) for (const instance of instances) await instance.start();
}, 120_000);
beforeEach(() => host.reset());
afterAll(async () => {
  for (const instance of instances) await instance.stop();
  await host.stop();
  await redis?.stop();
  if (postgres !== undefined) await ("drop" in postgres ? postgres.drop() : postgres.stop());
  rmSync(folder, { recursive: true, force: true });
});

const authorization = `Bearer ${TEST_KEY}`;
const chunk = Buffer.alloc(MEGABYTE, "the harbour opens at nine. ");

/** Uploads this many megabytes without holding them in memory. */
async function upload(url: string, megabytes: number): Promise<{ id: string; sha256: string }> {
  const hash = createHash("sha256");
  const head =
    '--sep\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n' +
    '--sep\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n';
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(head)),
    pull: (controller) => {
      if (sent++ < megabytes) {
        hash.update(chunk);
        controller.enqueue(chunk);
        return;
      }
      controller.enqueue(Buffer.from("\r\n--sep--\r\n"));
      controller.close();
    },
  });
  const headers = { authorization, "content-type": "multipart/form-data; boundary=sep" };
  const answer = await fetch(`${url}/v1/files`, { method: "POST", headers, body });
  return { id: ((await answer.json()) as { id: string }).id, sha256: hash.digest("hex") };
}

const ask = (url: string, model: string, file_id: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: [{ type: "file", file: { file_id } }] }] }),
  });

function residentBytes({ pid }: CrashingGateway, of: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`^${of}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
}

describe.skipIf(!arePresent)("choices 12: files at providers, at two instances", () => {
  test("a file of 200 MB is uploaded to three providers without being held in memory", async () => {
    const { id, sha256 } = await upload(one.url, 200);
    const idle = residentBytes(one, "VmRSS");
    for (const model of ["test/chat", "test/messages", "test/genai"]) {
      const response = await ask(one.url, model, id);
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining(`${sha256} ${200 * MEGABYTE}`),
      ]);
    }
    const growth = Math.max(residentBytes(one, "VmRSS"), residentBytes(one, "VmHWM")) - idle;
    console.log(`200 MB to three providers: ${Math.round(growth / MEGABYTE)} MB more than before`);
    expect(growth).toBeLessThan(120 * MEGABYTE);
  }, 120_000);

  test("instances share an upload, also one that runs", async () => {
    const { id, sha256 } = await upload(one.url, 40);
    host.faults.slowMs = 1;
    const responses = await Promise.all([one, two, one, two].map(({ url }) => ask(url, "test/messages", id)));
    for (const response of responses) expect(await response.text()).toContain(sha256);
    expect(await (await ask(two.url, "test/messages", id)).text()).toContain(sha256);
    expect(host.counts.uploads).toBe(1);
  }, 60_000);

  test("H21: an instance is killed during an upload: the other one uploads the file", async () => {
    const { id, sha256 } = await upload(one.url, 40);
    host.faults.slowMs = 20;
    const cut = ask(one.url, "test/messages", id).catch(() => undefined);
    await eventually("the files at the provider", () => host.counts.uploads === 1);
    await one.killAll();
    await cut;
    host.faults.slowMs = 0;
    const response = await ask(two.url, "test/messages", id);
    expect(await response.text()).toContain(sha256);
    expect(host.counts.uploads).toBe(2);
    expect(host.files.size).toBe(1);
    await one.start();
    expect(await (await ask(one.url, "test/messages", id)).text()).toContain(sha256);
    expect(host.counts.uploads).toBe(2);
  }, 120_000);

  test("a file that is deleted at one instance is deleted at the providers once", async () => {
    const { id } = await upload(one.url, 40);
    expect((await ask(one.url, "test/messages", id)).status).toBe(200);
    await fetch(`${two.url}/v1/files/${id}`, { method: "DELETE", headers: { authorization } });
    await eventually("the files at the provider", () => host.files.size === 0);
    expect(host.counts.deletions).toBe(1);
  }, 60_000);
});
