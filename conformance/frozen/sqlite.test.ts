import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOptional } from "../../testing/is-present.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import {
  answeringUpstream,
  callAll,
  makeKey,
  readiness,
  realTimes,
  revoke,
  timed,
  until,
} from "../support/fault-harness.ts";
import { faultTable, seconds } from "../support/fault-table.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const timings = realTimes ? {} : { statementMs: 300, heartbeatMs: 100 };
const record = faultTable();
const upstream = await answeringUpstream();

const stored = (path: string, ids: readonly string[]): number => {
  const database = new Database(path, { readonly: true });
  const rows = database.query<{ id: string }, []>("SELECT id FROM receipts").all();
  database.close();
  const found = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => found.has(id)).length;
};

function revokedAt(path: string, keyId: string): number | null | undefined {
  const database = new Database(path, { readonly: true });
  const row = database
    .query<{ at: number | null }, [string]>("SELECT revoked_at_ms AS at FROM api_keys WHERE id = ?")
    .get(keyId);
  database.close();
  return row?.at;
}

/** What works while the storage accepts no writes, and what happens afterwards. */
async function endure(fault: string, path: string, reason: string, begin: () => void, end: () => void): Promise<void> {
  const config = { ...scriptedModels(upstream.url), storage: `sqlite:${path}` };
  const gateway = await startTestGateway({ config, timings });
  const before = await callAll(gateway, 1);
  const key = await makeKey(gateway);
  begin();
  // An idle gateway notices too.
  await until("degraded is reported", async () => (await readiness(gateway)).body.status === "degraded");
  const during = await callAll(gateway, 4);
  await until("rows wait", async () => (await readiness(gateway)).body.reason?.includes("receipts wait") === true);
  const revokedMs = await revoke(gateway, key);
  const reported = await readiness(gateway);
  expect(reported).toMatchObject({ status: 200, body: { reason: expect.stringContaining(reason) } });
  expect(reported.ms).toBeLessThan(1_000);
  end();
  const ids = [...before.ids, ...during.ids];
  const recoveryMs = await until("every row is kept", async () => stored(path, ids) === ids.length);
  const readyMs = await until("ready", async () => (await readiness(gateway)).body.status === "ready");
  await until("the revocation is kept", async () => revokedAt(path, key.id) !== null);
  const [{ lostReceipts }, stopMs] = await timed(gateway.app.stop());
  expect(lostReceipts).toBe(0);
  rmSync(gateway.folder, { recursive: true, force: true });
  record({
    fault,
    calls: `${during.ids.length} of ${during.ids.length} answered, slowest ${seconds(during.slowestMs)}`,
    revocations: `here ${seconds(revokedMs)}`,
    readiness: `200 degraded in ${Math.ceil(reported.ms)} ms`,
    shutdown: `after it: ${seconds(stopMs)}`,
    recovery: `${seconds(recoveryMs + readyMs)}, all ${ids.length} rows kept`,
  });
}

test("H29, H21: an SQLite file locked by another process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-held-"));
  const path = join(folder, "held.db");
  let holder: Database | undefined;
  await endure(
    "SQLite file held by another process",
    path,
    "database is locked",
    () => {
      holder = new Database(path);
      holder.run("BEGIN IMMEDIATE");
    },
    () => {
      holder?.run("ROLLBACK");
      holder?.close();
    },
  );
  rmSync(folder, { recursive: true, force: true });
});

/** A small separate disk, which only root may create. */
function mountSmallDisk(): { folder: string; unmount: () => void } | undefined {
  if (Bun.which("mount") === null || Bun.which("umount") === null) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "trivium-full-"));
  const run = (...command: string[]) => Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  const isRoot = process.platform === "linux" && process.getuid?.() === 0;
  if (isRoot && run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder)) {
    return {
      folder,
      unmount: () => {
        run("umount", folder);
        rmSync(folder, { recursive: true, force: true });
      },
    };
  }
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

const disk = mountSmallDisk();
isOptional(disk !== undefined, "a full disk: no small disk can be mounted, which takes root on Linux");
test.skipIf(disk === undefined)("H29, H21: a full disk", async () => {
  if (disk === undefined) throw new Error("not skipped");
  try {
    const ballast = join(disk.folder, "ballast");
    await endure(
      "disk full (SQLite on a tmpfs of 4 MB)",
      join(disk.folder, "trivium.db"),
      "database or disk is full",
      () => {
        // To the last page, and beyond what freed pages may provide.
        for (let index = 0; ; index += 1) {
          const { bavail, bsize } = statfsSync(disk.folder);
          const left = Number(bavail) * Number(bsize);
          if (left === 0) break;
          writeFileSync(`${ballast}-${index}`, new Uint8Array(left));
        }
      },
      () => rmSync(`${ballast}-0`, { force: true }),
    );
  } finally {
    disk.unmount();
  }
});
