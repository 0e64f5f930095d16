import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../../src/base/system.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { DIALECTS } from "../../testing/build-call.ts";
import { eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { answeringUpstream } from "../support/fault-harness.ts";
import { childrenOf, isAlive, listeningAt, TRIVIUM } from "../support/program.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const upstream = await answeringUpstream();
const folder = mkdtempSync(join(tmpdir(), "trivium-full-files-"));
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

interface Started {
  child: Bun.Subprocess;
  url: string;
  /** All its processes. */
  pids: number[];
}

/** A gateway that cannot make any file larger than that: like a full disk for each of its files. */
async function start(cwd: string, limitKb?: number): Promise<Started> {
  // A write beyond the limit is an error, and does not end the process.
  const limited = limitKb === undefined ? "" : `trap '' XFSZ; ulimit -S -f ${limitKb * BLOCKS_PER_KB}; `;
  const child = Bun.spawn(["sh", "-c", `${limited}exec "$0" serve`, TRIVIUM], {
    cwd,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  running.push(child);
  const { url } = await listeningAt(child.stdout);
  return { child, url, pids: [child.pid, ...childrenOf(child.pid)] };
}

/** The folder of a gateway with that many processes. */
function prepare(name: string, workers: number): string {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  const configuration = {
    server: { port: 0, workers },
    admin: { port: 0, secret: TEST_ADMIN_SECRET },
    simulator: false,
    log: { calls: "off" },
    keys: [{ name: "tests", key: TEST_KEY }],
    ...scriptedModels(upstream.url),
  };
  writeFileSync(join(cwd, "trivium.yaml"), JSON.stringify(configuration));
  return cwd;
}

/** The receipts of the responses that clients have got, and the calls that were refused. */
class Clients {
  readonly answered: string[] = [];
  readonly refused: Awaited<ReturnType<typeof errorOf>>[] = [];

  async call(url: string, dialect: DialectName = "chat"): Promise<void> {
    const answer = await callGateway(url, dialect, TEST_KEY, {});
    if (answer.status !== 200) this.refused.push(await errorOf(answer));
    else {
      await answer.text();
      this.answered.push(answer.headers.get("x-trivium-receipt") ?? "");
    }
  }

  /** Several at a time, in all protocols. */
  async callAll(url: string): Promise<void> {
    await Promise.all(DIALECTS.flatMap((dialect) => [this.call(url, dialect), this.call(url, dialect)]));
  }
}

/** Every response has its row, and there are no others. */
async function expectRows(cwd: string, { answered }: Clients): Promise<void> {
  const storage = await openStorage(`sqlite:${join(cwd, "data", "trivium.db")}`, system.clock);
  const rows = await storage.query("SELECT id FROM receipts");
  const found = new Set(rows.map((row) => text(row, "id")));
  expect(answered.filter((id) => !found.has(id))).toEqual([]);
  expect(rows.length).toBe(answered.length);
  expect((await checkRollUps(storage)).differences).toEqual([]);
  await storage.close();
}

for (const workers of [1, 2]) {
  const title = `with ${workers} ${workers === 1 ? "process" : "workers"}`;

  test(`H21, H29: a disk that is full, then kill -9: each response has its row after the next start, ${title}`, async () => {
    const cwd = prepare(`killed-${workers}`, workers);
    const { url, pids } = await start(cwd, FILE_LIMIT);
    const clients = new Clients();
    const asked = upstream.seen.length;
    // Every process refuses calls, each when its own journal is full.
    while (clients.refused.length < 40) await clients.callAll(url);
    for (const { status, message } of clients.refused) {
      expect([503, 529]).toContain(status);
      expect(message).toBe(
        "The gateway cannot store more receipts: its database does not take them, and the disk of its journal is full. Try again later.",
      );
    }
    // No provider was asked for a call that was refused.
    expect(upstream.seen.length - asked).toBe(clients.answered.length);
    // Its workers too. Those that only lose their first process drain, and write more rows meanwhile.
    Bun.spawnSync(["kill", "-9", ...pids.map(String)]);
    await eventually("their end", () => !pids.some(isAlive));
    const { child: second, url: later } = await start(cwd);
    await clients.call(later);
    second.kill("SIGTERM");
    await second.exited;
    await expectRows(cwd, clients);
  });

  test(`calls are served again when there is room on the disk, without a restart, ${title}`, async () => {
    const cwd = prepare(`freed-${workers}`, workers);
    const { child, url, pids } = await start(cwd, FILE_LIMIT);
    const clients = new Clients();
    while (clients.refused.length === 0) await clients.callAll(url);
    for (const pid of pids) Bun.spawnSync(["prlimit", "--pid", String(pid), "--fsize=unlimited"]);
    await eventually("calls that are served", async () => {
      const before = clients.refused.length;
      await clients.callAll(url);
      return clients.refused.length === before;
    });
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    await expectRows(cwd, clients);
  });
}
