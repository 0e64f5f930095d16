import { afterEach, beforeEach, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import type { Storage } from "../storage/storage.ts";
import { AlertsWorld } from "./alerts-world.sample.ts";

const DAY_MS = 86_400_000;

let storage: Storage;
let world: AlertsWorld;
beforeEach(async () => {
  storage = await openMemoryStorage(system.clock);
  world = new AlertsWorld(storage);
});
afterEach(() => storage.close());

const retiring = (days: number) => {
  world.retiring = [{ model: "acme/old", retiresOn: "2026-02-15", days, replacedBy: "acme/new" }];
};

test("H63: the users of a model are warned 30, 7 and 1 days before it ends, once by all processes together", async () => {
  const processes = [world.process(), world.process()];
  const look = async (days: number) => {
    retiring(days);
    for (const one of processes) await one.look();
    await world.clock.pass(DAY_MS);
  };
  world.keyCalls = [
    { key: "key_a", calls: 3 },
    { key: "key_b", calls: 1 },
  ];
  for (const days of [31, 30, 29, 8, 7, 6, 2, 1, 0]) await look(days);
  expect(world.texts).toEqual([
    'The model "acme/old" retires on 2026-02-15, in 30 days. Use acme/new in its place: in the last 30 days it had 4 calls of 2 keys.',
    'The model "acme/old" retires on 2026-02-15, in 7 days. Use acme/new in its place: in the last 30 days it had 4 calls of 2 keys.',
    'The model "acme/old" retires on 2026-02-15, tomorrow. Use acme/new in its place: in the last 30 days it had 4 calls of 2 keys.',
  ]);
  expect(world.sent[0]?.json).toMatchObject({
    type: "model.retiring",
    data: {
      model: "acme/old",
      retires_on: "2026-02-15",
      days: 30,
      replaced_by: "acme/new",
      calls: 4,
      keys: world.keyCalls,
    },
  });
});

test("H63: a model that nobody calls is not reported, until somebody does; then only the nearest day is", async () => {
  const process = world.process();
  retiring(20);
  await process.look();
  expect(world.types).toEqual([]);
  world.keyCalls = [{ key: "key_a", calls: 1 }];
  retiring(5);
  await world.clock.pass(15 * DAY_MS);
  await process.look();
  await world.clock.pass(1_000);
  expect(world.types).toEqual(["model.retiring"]);
  expect(world.texts[0]).toContain("in 5 days");
});
