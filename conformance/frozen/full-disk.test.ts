import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../../src/base/system.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { freePort } from "../../testing/free-port.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway } from "../support/client-calls.ts";
import { answeringUpstream } from "../support/fault-harness.ts";
import { TRIVIUM } from "../support/program.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const upstream = await answeringUpstream();
const folder = mkdtempSync(join(tmpdir(), "trivium-full-files-"));
const storageUrl = `sqlite:${join(folder, "data", "trivium.db")}`;
const journals = join(folder, "data", "journal");
const running: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all(running.map((child) => child.exited));
  rmSync(folder, { recursive: true, force: true });
});

/** In kilobytes: more than the tables need, and little more. */
const FILE_LIMIT = 1_536;

/** The shell counts the size of files in blocks of 512 bytes. */
const BLOCKS_PER_KB = 2;

/** A gateway that cannot make any file larger than that: like a full disk for each of its files. */
async function start(url: string, limitKb?: number): Promise<Bun.Subprocess> {
  // A write beyond the limit is an error, and does not end the process.
  const limited = limitKb === undefined ? "" : `trap '' XFSZ; ulimit -S -f ${limitKb * BLOCKS_PER_KB}; `;
  const child = Bun.spawn(["sh", "-c", `${limited}exec "$0" serve`, TRIVIUM], {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  running.push(child);
  while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null) throw new Error("The gateway did not start.");
    await Bun.sleep(20);
  }
  return child;
}

test("H21, H29: a database that accepts no more rows, then kill -9: each response has its row after the next start", async () => {
  const [port, adminPort] = [freePort(), freePort()];
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(
    join(folder, "trivium.yaml"),
    JSON.stringify({
      server: { port },
      admin: { port: adminPort, secret: TEST_ADMIN_SECRET },
      simulator: false,
      log: { calls: "off" },
      keys: [{ name: "tests", key: TEST_KEY }],
      ...scriptedModels(upstream.url),
    }),
  );
  const first = await start(url, FILE_LIMIT);
  const answered: string[] = [];
  const call = async () => {
    const answer = await callGateway(url, "chat", TEST_KEY, {});
    await answer.text();
    expect(answer.status).toBe(200);
    answered.push(answer.headers.get("x-trivium-receipt") ?? "");
  };
  const journaled = () => {
    try {
      return readdirSync(journals).reduce((bytes, name) => bytes + statSync(join(journals, name)).size, 0);
    } catch {
      return 0;
    }
  };
  // Until the database is full and the journal has some rows.
  while (journaled() < 20_000) await Promise.all(Array.from({ length: 10 }, call));
  const { status, reason } = (await (await fetch(`${url}/readyz`)).json()) as { status: string; reason: string };
  expect(status).toBe("degraded");
  expect(reason).toMatch(/receipts wait for the store: .*(full|disk I\/O)/);
  first.kill("SIGKILL");
  await first.exited;
  const second = await start(url);
  await call();
  second.kill("SIGTERM");
  await second.exited;
  const storage = await openStorage(storageUrl, system.clock);
  const rows = await storage.query("SELECT id FROM receipts");
  const found = new Set(rows.map((row) => text(row, "id")));
  expect(answered.filter((id) => !found.has(id))).toEqual([]);
  expect(rows.length).toBe(answered.length);
  expect((await checkRollUps(storage)).differences).toEqual([]);
  await storage.close();
});
