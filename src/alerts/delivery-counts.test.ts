import { afterEach, beforeEach, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import type { Storage } from "../storage/storage.ts";
import type { Alerts } from "./alerts.ts";
import { AlertsWorld, SETTINGS, TAKEN, used } from "./alerts-world.sample.ts";
import { observeGateway } from "./observation.ts";

const HOUR_MS = 3_600_000;

let storage: Storage;
let world: AlertsWorld;
beforeEach(async () => {
  storage = await openMemoryStorage(system.clock);
  world = new AlertsWorld(storage);
});
afterEach(() => storage.close());

const countsOf = ({ deliveries, settings }: Alerts): Record<string, number> => ({
  ...Object.fromEntries(
    deliveries.list(settings.webhooks.map(({ name }) => name)).map(({ outcome, count }) => [outcome, count]),
  ),
  waiting: deliveries.waiting,
});

test("attempts are counted by outcome, from 0 for each webhook, with the pending ones", async () => {
  const alerts = world.process();
  expect(countsOf(alerts)).toEqual({ delivered: 0, retried: 0, failed: 0, waiting: 0 });
  let answers = 0;
  world.answer = () => (++answers <= 2 ? { ...TAKEN, status: 503 } : TAKEN);
  const stop = alerts.start();
  await alerts.tellBudgets([used(5)], world.clock.wallMs());
  await world.clock.pass(1_000);
  expect(countsOf(alerts)).toEqual({ delivered: 0, retried: 1, failed: 0, waiting: 1 });
  await world.clock.pass(HOUR_MS);
  expect(countsOf(alerts)).toEqual({ delivered: 1, retried: 2, failed: 0, waiting: 0 });
  world.answer = () => ({ ...TAKEN, status: 410 });
  await alerts.tellBudgets([used(8)], world.clock.wallMs());
  await world.clock.pass(HOUR_MS);
  stop();
  expect(countsOf(alerts)).toEqual({ delivered: 1, retried: 2, failed: 1, waiting: 0 });
});

test("pending deliveries are counted by processes that have sent none of them", async () => {
  world.answer = () => ({ ...TAKEN, status: 500 });
  const [one, other] = [world.process(), world.process()];
  const stops = [one.start(), other.start()];
  await one.tellBudgets([used(5)], world.clock.wallMs());
  await world.clock.pass(2 * HOUR_MS);
  for (const stop of stops) stop();
  expect([one.deliveries.waiting, other.deliveries.waiting]).toEqual([1, 1]);
});

test("an alert that is sent from memory while the storage is unavailable is counted too", async () => {
  const away: Storage = {
    ...storage,
    engine: storage.engine,
    query: () => Promise.reject(new Error("away")),
    transaction: () => Promise.reject(new Error("away")),
  };
  let answers = 0;
  world.answer = () => (++answers === 1 ? { ...TAKEN, status: 500 } : TAKEN);
  const alerts = world.process(SETTINGS, () => [observeGateway("host", ["receipts wait"])], away);
  const stop = alerts.start();
  await world.clock.pass(61_000);
  expect(countsOf(alerts)).toEqual({ delivered: 0, retried: 1, failed: 0, waiting: 1 });
  await world.clock.pass(60_000);
  stop();
  expect(countsOf(alerts)).toEqual({ delivered: 1, retried: 1, failed: 0, waiting: 0 });
  await alerts.stop();
});
