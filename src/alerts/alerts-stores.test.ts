import { afterAll, describe, expect, test } from "bun:test";
import { atRest, eventually } from "../../testing/eventually.ts";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import { selectAlerts, selectLastTry } from "../storage/tables/alerts.ts";
import { Alerts } from "./alerts.ts";
import { SETTINGS, TAKEN, used } from "./alerts-world.sample.ts";
import { observeProvider } from "./observation.ts";

const PROCESSES = 4;
const ROUNDS = 5;

/** Processes with separate connections to one database, in real time. */
async function race(databases: TestDatabases, run: (processes: Alerts[], sent: string[]) => Promise<void>) {
  const url = await databases.withTables();
  const storages = [];
  for (let at = 0; at < PROCESSES; at++) storages.push(await openStorage(url, system.clock));
  const sent: string[] = [];
  const problems: unknown[] = [];
  const processes = storages.map(
    (storage, at) =>
      new Alerts({
        ...system,
        storage,
        instance: `instance_${at}`,
        settings: SETTINGS,
        observe: () => observeProvider({ provider: "acme", isDown: true, models: [{ model: "m", state: "open" }] }),
        countCalls: async () => [],
        providers: () => [],
        post: async ({ body }) => {
          sent.push((JSON.parse(body) as { id: string }).id);
          return TAKEN;
        },
        onProblem: (error) => problems.push(error),
      }),
  );
  try {
    await run(processes, sent);
    // A duplicate would be among what the processes have found by then.
    await atRest("the deliveries", () => sent.length);
    const [storage] = storages;
    const alerts = storage === undefined ? [] : await selectAlerts(storage, { limit: 100 });
    expect(problems).toEqual([]);
    return { sent, alerts, last: storage && (await selectLastTry(storage, "hook")) };
  } finally {
    await Promise.all(processes.map((alerts) => alerts.stop()));
    await Promise.all(storages.map((storage) => storage.close()));
  }
}

for (const databases of testDatabases("races of alerts")) {
  describe(`alerts of ${PROCESSES} instances on ${databases.engine}`, () => {
    afterAll(() => databases.clear());

    test("a threshold that all of them see at once is delivered once", async () => {
      const { sent, alerts, last } = await race(databases, async (processes, delivered) => {
        for (let round = 0; round < ROUNDS; round++) {
          const uses = [used(5, { id: `key_${round}` }), used(9, { id: `key_${round}`, window: "month" })];
          await Promise.all(processes.map((one) => one.tellBudgets(uses, Date.UTC(2026, 0, 1))));
        }
        await eventually("all deliveries", () => delivered.length >= 2 * ROUNDS);
      });
      expect(sent.length).toBe(2 * ROUNDS);
      expect([new Set(sent).size, alerts.length]).toEqual([2 * ROUNDS, 2 * ROUNDS]);
      expect(alerts.flatMap(({ deliveries }) => deliveries.map(({ state }) => state))).toEqual(
        Array.from({ length: 2 * ROUNDS }, () => "delivered"),
      );
      expect(last).toMatchObject({ webhook: "hook", state: "delivered", status: 200, tries: 1 });
    });

    test("a provider that all of them see down is reported once", async () => {
      const { sent } = await race(databases, async (processes, delivered) => {
        for (let look = 0; look < 3; look++) await Promise.all(processes.map((one) => one.look()));
        await eventually("a delivery", () => delivered.length >= 1);
      });
      expect(sent.length).toBe(1);
    });
  });
}
