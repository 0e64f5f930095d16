import { expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { system } from "../base/system.ts";
import { selectAlerts } from "../storage/tables/alerts.ts";
import { failExport, finishExport, keepExports, leaseExport } from "../storage/tables/exports.ts";
import { Alerts } from "./alerts.ts";
import { SETTINGS, TAKEN } from "./alerts-world.sample.ts";

test("docs/alerts.md: an export that fails three times in a row is reported once, and again after it has succeeded", async () => {
  const clock = new VirtualClock();
  const storage = await openMemoryStorage(clock);
  const alerts = new Alerts({
    ...system,
    clock,
    storage,
    instance: "instance_1",
    settings: SETTINGS,
    observe: () => [],
    countCalls: async () => [],
    providers: () => [],
    hasExports: true,
    post: async () => TAKEN,
    onProblem: (error) => {
      throw error;
    },
  });
  const held = { name: "all", owner: "one" };
  await keepExports(storage, ["all"], clock.wallMs());
  const fail = async () => {
    const nowMs = clock.wallMs();
    await leaseExport(storage, held, { nowMs, leaseUntilMs: nowMs + 1_000 });
    await failExport(storage, held, { error: "no <space> left", nowMs, dueAtMs: nowMs });
    await alerts.look();
  };
  const told = async () => (await selectAlerts(storage, { limit: 10 })).map(({ body }) => JSON.parse(body) as unknown);
  await fail();
  await fail();
  expect(await told()).toEqual([]);
  await fail();
  await fail();
  expect(await told()).toEqual([
    expect.objectContaining({
      type: "export.failed",
      text: 'The export "all" fails and will be retried. no ‹space› left',
      data: expect.objectContaining({ export: "all", failures: 3, exported_until: null }),
    }),
  ]);
  await clock.pass(60_000);
  const nowMs = clock.wallMs();
  await leaseExport(storage, held, { nowMs, leaseUntilMs: nowMs + 1_000 });
  await finishExport(storage, held, { nextId: "rcp_1", coveredUntilMs: nowMs, dueAtMs: nowMs });
  for (let count = 0; count < 3; count++) await fail();
  expect(await told()).toHaveLength(2);
  await alerts.stop();
});
