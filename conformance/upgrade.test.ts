import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Page } from "../scripts/markdown-page.ts";
import { system } from "../src/base/system.ts";
import { MIGRATIONS } from "../src/storage/migrations/index.ts";
import { LATEST_VERSION, openStorage } from "../src/storage/open.ts";
import { sampleReceipt } from "../src/storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../src/storage/receipts/receipts.ts";
import { isPresent, programsPresent } from "../testing/is-present.ts";
import { makeDatabase, postgresServer } from "./support/postgres-database.ts";
import { runProgram } from "./support/program.ts";

const workFolder = mkdtempSync(join(tmpdir(), "trivium-upgraded-"));
afterAll(() => rmSync(workFolder, { recursive: true, force: true }));

const OLD = MIGRATIONS.slice(0, -1);
const OLD_VERSION = OLD.at(-1)?.version ?? 0;

let made = 0;
/** A gateway's folder whose database is one version behind. */
async function oldFolder(): Promise<{ cwd: string; file: string; url: string }> {
  const cwd = join(workFolder, String(++made));
  mkdirSync(cwd);
  writeFileSync(join(cwd, "trivium.yaml"), "simulator: true\n");
  const file = join(cwd, "data/trivium.db");
  const url = `sqlite:${file}`;
  const storage = await openStorage(url, system.clock, undefined, { migrations: OLD });
  await insertReceipts(storage, [sampleReceipt({ id: "rcp_before", costNanoUsd: 1_000_000 })]);
  await storage.close();
  return { cwd, file, url };
}

function versionIn(file: string): number {
  const database = new Database(file, { readonly: true });
  const row = database.query("SELECT MAX(version) AS version FROM migrations").get() as { version: number };
  database.close();
  return row.version;
}

async function addReceipts(url: string, ids: readonly string[]): Promise<void> {
  const storage = await openStorage(url, system.clock);
  await insertReceipts(
    storage,
    ids.map((id) => sampleReceipt({ id, costNanoUsd: 2_500_000 })),
  );
  await storage.close();
}

describe("decision 0145: only serve and migrate change the tables", () => {
  test("every other command says that they are older, and changes nothing", async () => {
    const { cwd, file } = await oldFolder();
    const commands = [
      ["keys", "create", "--name", "x"],
      ["keys", "list"],
      ["projects", "list"],
      ["usage"],
      ["usage", "check"],
      ["operators", "list"],
      ["catalogue", "list"],
      ["cache", "show", "--project", "default"],
      ["reprice", "--from", "2026-01-01", "--to", "2026-02-01", "--dry-run"],
    ];
    const ended = await Promise.all(commands.map(async (words) => ({ words, ...(await runProgram(words, { cwd })) })));
    for (const { words, code, stderr } of ended) {
      expect({ words, code, stderr }).toEqual({
        words,
        code: 1,
        stderr: expect.stringContaining(`at version ${OLD_VERSION}; this program needs version ${LATEST_VERSION}`),
      });
    }
    // What is useful before an upgrade works.
    for (const words of [["backup", join(cwd, "copy")], ["models"], ["check"], ["upgrade", "--check"]]) {
      expect({ words, ...(await runProgram(words, { cwd })) }).toMatchObject({ words, code: 0 });
    }
    expect(versionIn(file)).toBe(OLD_VERSION);
    expect(readdirSync(join(cwd, "data")).filter((name) => name.includes("before"))).toEqual([]);
  });

  test("upgrade --check lists the changes, also when there are none, and when the tables are newer", async () => {
    const { cwd, file } = await oldFolder();
    const { code, stdout } = await runProgram(["upgrade", "--check"], { cwd });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`from version ${OLD_VERSION} to ${LATEST_VERSION}:\n.*\n${LATEST_VERSION} .*\\w\nA copy of \\d+ MB`),
      ),
    ]);
    const listed = await runProgram(["upgrade", "--check", "--json"], { cwd });
    expect(JSON.parse(listed.stdout)).toMatchObject({
      version: OLD_VERSION,
      needs: LATEST_VERSION,
      changes: [{ version: LATEST_VERSION, name: MIGRATIONS.at(-1)?.name, tables: expect.any(Array) }],
    });
    expect(await runProgram(["migrate"], { cwd })).toMatchObject({ code: 0 });
    expect((await runProgram(["upgrade", "--check"], { cwd })).stdout).toContain("changes nothing");
    const database = new Database(file);
    database.run("INSERT INTO migrations (version, name, applied_at_ms) VALUES (900, 'x', 1)");
    database.close();
    for (const words of [["upgrade", "--check"], ["usage"]])
      expect(await runProgram(words, { cwd })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("newer Trivium: its tables are at version 900"),
      });
  });
});

describe("rollback", () => {
  test("puts back the copy from before the upgrade, and says which receipts came after", async () => {
    const { cwd, file, url } = await oldFolder();
    expect(await runProgram(["rollback"], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no copy from before an upgrade"),
    });
    expect(await runProgram(["migrate"], { cwd })).toMatchObject({ code: 0 });
    await addReceipts(url, ["rcp_after_1", "rcp_after_2"]);
    const told = "Receipts that came after: 2, of 0.005000 USD.";
    const looked = await runProgram(["rollback", "--dry-run"], { cwd });
    expect([looked.code, looked.stdout]).toEqual([0, expect.stringContaining(told)]);
    expect(versionIn(file)).toBe(LATEST_VERSION);

    const done = await runProgram(["rollback"], { cwd });
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining(told)]);
    expect(versionIn(file)).toBe(OLD_VERSION);
    const kept = /The previous data is in (.*)/.exec(done.stdout)?.[1] ?? "";
    expect(versionIn(kept)).toBe(LATEST_VERSION);
    // It can be upgraded again, and then has what it had before.
    expect(await runProgram(["migrate"], { cwd })).toMatchObject({ code: 0 });
    const usage = JSON.parse((await runProgram(["usage", "--days", "36500", "--json"], { cwd })).stdout) as object;
    expect(JSON.stringify(usage)).toContain('"calls":1');
  });

  test("works over a database that cannot be read", async () => {
    const { cwd, file } = await oldFolder();
    expect(await runProgram(["migrate"], { cwd })).toMatchObject({ code: 0 });
    writeFileSync(file, "not a database");
    const done = await runProgram(["rollback"], { cwd });
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("not known which receipts came after")]);
    expect(versionIn(file)).toBe(OLD_VERSION);
  });
});

const canDump =
  isPresent(postgresServer !== undefined, "going back on PostgreSQL, because TRIVIUM_TEST_POSTGRES is not set") &&
  programsPresent("going back on PostgreSQL", "pg_dump", "pg_restore", "psql");

test.skipIf(!canDump)(
  "the commands of docs/deploy.md dump a PostgreSQL database and put it back after an upgrade",
  async () => {
    const page = new Page("docs/deploy.md");
    const blockWith = (command: string) => page.blocks.find(({ code }) => code.includes(command))?.code ?? "";
    const database = await makeDatabase({ isEmpty: true });
    const url = database.url.href;
    const cwd = join(workFolder, "postgres");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "trivium.yaml"), `storage: ${url}\n`);
    const paste = async (code: string): Promise<string> => {
      const child = Bun.spawn(["sh", "-ec", code], {
        cwd,
        env: { PATH: process.env["PATH"] ?? "", DATABASE_URL: url },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect({ code: await child.exited, stderr }).toMatchObject({ code: 0 });
      return stdout;
    };
    const versionThere = async () => {
      const [row] = (await database.sql`SELECT MAX(version) AS version FROM migrations`) as { version: number }[];
      return row?.version;
    };
    try {
      const old = await openStorage(url, system.clock, undefined, { migrations: OLD });
      await insertReceipts(old, [sampleReceipt({ id: "rcp_before" })]);
      await old.close();
      await paste(blockWith("pg_dump "));
      expect(existsSync(join(cwd, "before-upgrade.dump"))).toBe(true);
      expect(await runProgram(["migrate"], { cwd })).toMatchObject({ code: 0 });
      await addReceipts(url, ["rcp_after_1", "rcp_after_2"]);
      expect(await versionThere()).toBe(LATEST_VERSION);
      const shown = await paste(blockWith("pg_restore"));
      expect(shown).toMatch(/\b2 \|\s+0\.005/);
      expect(await versionThere()).toBe(OLD_VERSION);
      // It can be used, and upgraded again.
      expect(await runProgram(["migrate"], { cwd })).toMatchObject({ code: 0 });
      expect(await versionThere()).toBe(LATEST_VERSION);
    } finally {
      await database.drop();
    }
  },
);

test("restore and rollback hold the batches of the copy and name them, and `batches release` lets them run", async () => {
  const { cwd, file } = await oldFolder();
  expect(await runProgram(["migrate"], { cwd })).toMatchObject({ code: 0 });
  for (const path of [file, `${file}.before-version-${LATEST_VERSION}`]) {
    const database = new Database(path);
    database.run(
      `INSERT INTO objects (id, kind, project, key_id, share, state, size, metadata, created_at_ms)
       VALUES ('batch_open', 'batch', 'default', 'key_1', 'project', 'in_progress', 0, '{}', 1), ('batch_done', 'batch', 'default', 'key_1', 'project', 'completed', 0, '{}', 1)`,
    );
    database.close();
  }
  const copy = join(cwd, "copy");
  expect(await runProgram(["backup", copy], { cwd })).toMatchObject({ code: 0 });
  for (const words of [["rollback"], ["restore", copy]])
    expect(await runProgram(words, { cwd })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^Batches that were running then are held, .*: batch_open\. .* `trivium batches release`\.\n$/,
      ),
    });
  const release = async () => (await runProgram(["batches", "release"], { cwd })).stdout.trim();
  expect([await release(), await release()]).toEqual(["Held batches run from now on.", "No batches are held."]);
});
