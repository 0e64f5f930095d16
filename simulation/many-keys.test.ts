import { expect, test } from "bun:test";
import { playManyKeys } from "./many-keys.ts";

const seed = Number(process.env["TRIVIUM_SEED"] ?? Math.floor(Math.random() * 1_000_000_000));

test("H23, choices 9: instances with many keys admit what one process admits, and at rest only report that they live", async () => {
  console.log(`limits of many keys: TRIVIUM_SEED=${seed}`);
  const instances = 6;
  const { broken, admitted, refused, phases, startWindows, windows } = await playManyKeys({
    seed,
    instances,
    keys: 900,
    calls: 800,
  });
  expect({ seed, broken }).toEqual({ seed, broken: [] });
  expect(admitted).toBeGreaterThan(300);
  expect(refused).toBeGreaterThan(10);
  // The others take their share with the first call.
  expect(startWindows).toBe(1_000);
  expect(windows).toBeWithin(1_001, 1_700);
  const rest = phases.find(({ name }) => name === "at rest");
  expect(rest).toMatchObject({ messages: 5 * instances, claims: 20 * instances, levels: 0, notified: 0 });
});
