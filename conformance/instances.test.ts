import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../src/base/system.ts";
import { selectInstances } from "../src/storage/instances.ts";
import { openStorage } from "../src/storage/open.ts";
import { startTestGateway } from "./support/test-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-instances-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WARNING = /another gateway uses this storage .* and limits are not shared yet/;

/** A gateway on the shared storage, and what it says. */
async function instance() {
  const said: string[] = [];
  const gateway = await startTestGateway({
    config: { storage: `sqlite:${join(folder, "shared.db")}` },
    timings: { heartbeatMs: 20 },
    log: { level: "warn", write: async (text) => void said.push(text) },
  });
  const warnings = () =>
    said
      .join("")
      .split("\n")
      .filter((line) => WARNING.test(line));
  return { gateway, warnings };
}

const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await Bun.sleep(5);
};

test("choices 9, H23: gateways that share a storage, and no limits, tell of each other once; a row left by a crash is no gateway", async () => {
  const storage = await openStorage(`sqlite:${join(folder, "shared.db")}`, system.clock);
  await storage.query("INSERT INTO instances (id, place, started_at_ms, beats) VALUES ('crashed', 'gone', 1, 7)");
  const known = async () => (await selectInstances(storage)).map(({ id }) => id);

  const first = await instance();
  await until(async () => (await known()).length === 1);
  expect(await known()).not.toContain("crashed");
  expect(first.warnings()).toEqual([]);

  const second = await instance();
  await until(() => first.warnings().length > 0 && second.warnings().length > 0);
  expect((await known()).length).toBe(2);
  const counts = async () => (await selectInstances(storage)).map(({ beats }) => beats);
  const before = await counts();
  await until(async () => (await counts()).every((beats, index) => beats > (before[index] ?? 0) + 3));
  expect([first.warnings().length, second.warnings().length]).toEqual([1, 1]);

  await second.gateway.stop();
  expect((await known()).length).toBe(1);
  await first.gateway.stop();
  expect(await known()).toEqual([]);
  await storage.close();
});
