import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../../src/base/system.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway } from "../support/client-calls.ts";
import { answeringUpstream } from "../support/fault-harness.ts";
import { childrenOf, isAlive, listeningAt, TRIVIUM } from "../support/program.ts";
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
async function start(limitKb?: number): Promise<{ child: Bun.Subprocess; url: string }> {
  // A write beyond the limit is an error, and does not end the process.
  const limited = limitKb === undefined ? "" : `trap '' XFSZ; ulimit -S -f ${limitKb * BLOCKS_PER_KB}; `;
  const child = Bun.spawn(["sh", "-c", `${limited}exec "$0" serve`, TRIVIUM], {
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  running.push(child);
  return { child, url: (await listeningAt(child.stdout)).url };
}

test("H21, H29: a database that accepts no more rows, then kill -9: each response has its row after the next start", async () => {
  writeFileSync(
    join(folder, "trivium.yaml"),
    JSON.stringify({
      server: { port: 0 },
      admin: { port: 0, secret: TEST_ADMIN_SECRET },
      simulator: false,
      log: { calls: "off" },
      keys: [{ name: "tests", key: TEST_KEY }],
      ...scriptedModels(upstream.url),
    }),
  );
  const { child: first, url } = await start(FILE_LIMIT);
  const answered: string[] = [];
  const call = async (at: string) => {
    const answer = await callGateway(at, "chat", TEST_KEY, {});
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
  while (journaled() < 20_000) await Promise.all(Array.from({ length: 10 }, () => call(url)));
  const { status, reason } = (await (await fetch(`${url}/readyz`)).json()) as { status: string; reason: string };
  expect(status).toBe("degraded");
  expect(reason).toMatch(/receipts wait for the store: .*(full|disk I\/O)/);
  // Its workers too. Those that only lose their first process drain, and write more rows meanwhile.
  const killed = [first.pid, ...childrenOf(first.pid)];
  for (const pid of killed) process.kill(pid, "SIGKILL");
  await eventually("their end", () => !killed.some(isAlive));
  const { child: second, url: later } = await start();
  await call(later);
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
