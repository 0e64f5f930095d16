import { afterAll, afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../src/base/system.ts";
import { selectInstances } from "../src/storage/instances.ts";
import { openStorage } from "../src/storage/open.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-instances-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const running: TestGateway[] = [];
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.stop();
});

const storageUrl = (name: string) => `sqlite:${join(folder, `${name}.db`)}`;

/** A gateway on the shared storage. */
async function instance(name: string, heartbeatMs = 40): Promise<TestGateway> {
  const gateway = await startTestGateway({ config: { storage: storageUrl(name) }, timings: { heartbeatMs } });
  running.push(gateway);
  return gateway;
}

test("choices 9, H23: a second gateway on one storage that would share no limits refuses to start, and says why", async () => {
  const first = await instance("second");
  const storage = await openStorage(storageUrl("second"), system.clock);
  while ((await selectInstances(storage))[0]?.beats === 0) await Bun.sleep(5);
  expect(instance("second")).rejects.toThrow(
    /already running on this database: .*, process \d+, started .*Stop it first.*set `redis`/,
  );
  await Bun.sleep(100);
  // The one that runs is not disturbed, and what was refused leaves nothing behind.
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  while ((await selectInstances(storage)).length > 1) await Bun.sleep(5);
  await first.stop();
  running.splice(0);
  expect(await selectInstances(storage)).toEqual([]);
  await instance("second");
  await storage.close();
});

test("choices 9: of two that start at once, one goes on", async () => {
  // Each watches whether the other's count moves: long enough for a busy machine, on which this process may stand still for a while.
  const both = await Promise.allSettled([instance("race", 200), instance("race", 200)]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("choices 9: a gateway that was killed leaves a row, and keeps no other from starting", async () => {
  const storage = await openStorage(storageUrl("killed"), system.clock);
  await storage.query("INSERT INTO instances (id, place, started_at_ms, beats) VALUES ('crashed', 'gone', 1, 7)");
  await instance("killed");
  const ids = (await selectInstances(storage)).map(({ id }) => id);
  expect(ids).toHaveLength(1);
  expect(ids).not.toContain("crashed");
  await storage.close();
});
