import { afterEach, beforeEach, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import type { Storage } from "../storage/storage.ts";
import { AlertsWorld, SETTINGS } from "./alerts-world.sample.ts";
import { type CallCounts, observeErrors, removedFromErrors } from "./error-share.ts";
import { observeGateway } from "./observation.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let storage: Storage;
let world: AlertsWorld;
beforeEach(async () => {
  storage = await openMemoryStorage(system.clock);
  world = new AlertsWorld(storage);
});
afterEach(() => storage.close());

const counts = (provider: string, failed: number, calls: number): CallCounts => ({ provider, failed, calls });

test("console-notes 4.1: a share of failed calls is reported once by all processes together, after two looks, and once when it is over", async () => {
  world.calls = [counts("acme", 0, 40)];
  const stops = [1, 2, 3].map(() => world.process().start());
  await world.clock.pass(5 * MINUTE_MS);
  world.calls = [counts("acme", 20, 40)];
  await world.clock.pass(30_000);
  expect(world.types).toEqual([]);
  await world.clock.pass(30 * MINUTE_MS);
  expect(world.texts).toEqual(['50% of the calls of the provider "acme" failed: 20 of 40 in the last 10 minutes.']);
  expect(world.sent[0]?.json).toMatchObject({
    type: "errors.high",
    data: {
      level: "provider",
      provider: "acme",
      threshold_percent: 50,
      failed_percent: 50,
      failed_calls: 20,
      calls: 40,
      minutes: 10,
    },
  });
  expect(world.sent[0]?.headers["x-trivium-signature"]).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  world.calls = [counts("acme", 19, 40)];
  await world.clock.pass(MINUTE_MS);
  for (const stop of stops) stop();
  expect(world.texts[1]).toBe(
    'Fewer than 50% of the calls of the provider "acme" fail now: 19 of 40 in the last 10 minutes.',
  );
  expect(world.types).toEqual(["errors.high", "errors.normal"]);
});

test("H29: a ledger that cannot count failed calls delays no other alert", async () => {
  world.countCalls = () => new Promise(() => {});
  const stop = world.process(SETTINGS, () => [observeGateway("host", ["receipts wait"])]).start();
  await world.clock.pass(2 * MINUTE_MS);
  stop();
  expect(world.types).toEqual(["gateway.degraded"]);
});

test("a share that goes up and down is reported once in ten minutes", async () => {
  const stop = world.process().start();
  for (let at = 0; at < 30; at++) {
    world.calls = [counts("acme", at % 2 === 0 ? 40 : 0, 40)];
    await world.clock.pass(2 * MINUTE_MS);
  }
  stop();
  const highs = world.types.filter((type) => type === "errors.high").length;
  expect([highs >= 3, highs <= 6]).toEqual([true, true]);
});

test("too few calls are never reported; a reported share is over when there are too few calls, or none", async () => {
  world.calls = [counts("acme", 19, 19)];
  const stop = world.process().start();
  await world.clock.pass(5 * MINUTE_MS);
  expect(world.types).toEqual([]);
  world.calls = [counts("acme", 20, 20)];
  await world.clock.pass(5 * MINUTE_MS);
  world.calls = [];
  await world.clock.pass(5 * MINUTE_MS);
  stop();
  expect(world.texts.slice(1)).toEqual([
    'Too few calls to tell whether 50% of the calls of the provider "acme" fail: 0 of 0 in the last 10 minutes failed.',
  ]);
});

test("all calls together are reported when no single provider is to blame, and do not recover because one provider does", () => {
  const { errors } = SETTINGS;
  const seen = (...calls: CallCounts[]) =>
    observeErrors(calls, ["a", "b", "c", "acme"], errors).map(({ subject, state }) => `${subject} ${state}`);
  const spread = ["a", "b", "c", ""].map((provider) => counts(provider, 6, 10));
  expect(seen(...spread)).toEqual([
    "errors of a up",
    "errors of b up",
    "errors of c up",
    "errors of acme up",
    "errors down",
  ]);
  const others = ["errors of a up", "errors of c up"];
  expect(seen(counts("acme", 40, 40), counts("b", 0, 10))).toEqual([
    "errors of acme down",
    "errors of b up",
    ...others,
  ]);
  expect(seen(counts("acme", 40, 40), counts("b", 0, 100))).toEqual([
    "errors of acme down",
    "errors of b up",
    ...others,
    "errors up",
  ]);
  const ofAll = observeErrors(spread, ["a", "b", "c"], errors).at(-1);
  expect(ofAll?.down().text).toBe("60% of all calls failed: 24 of 40 in the last 10 minutes.");
});

test("is not reported where the configuration disables it, nor to a webhook that does not subscribe to it", async () => {
  world.calls = [counts("acme", 40, 40)];
  const off = world.process({ ...SETTINGS, errors: { ...SETTINGS.errors, percent: 0 } }).start();
  await world.clock.pass(HOUR_MS);
  off();
  expect(await world.states()).toEqual([]);
  const [hook] = SETTINGS.webhooks;
  if (hook === undefined) throw new Error("no webhook");
  const stop = world.process({ ...SETTINGS, webhooks: [{ ...hook, events: ["provider.down"] }] }).start();
  await world.clock.pass(HOUR_MS);
  stop();
  expect(world.types).toEqual([]);
});

test("S14: a provider's name mentions nobody in a chat", () => {
  const [first] = observeErrors([counts("<!channel>@here", 40, 40)], ["<!channel>@here"], SETTINGS.errors);
  expect(first?.down().text).not.toMatch(/[<>@]/);
  const removed = removedFromErrors("errors of <!channel>@here", SETTINGS.errors);
  expect(removed?.observation.up().text).not.toMatch(/[<>@]/);
});

test("0065: a provider that is removed from the configuration while it is reported is reported as over, once, with the reason", async () => {
  world.calls = [counts("acme", 40, 40)];
  const stops = [1, 2, 3].map(() => world.process().start());
  await world.clock.pass(5 * MINUTE_MS);
  expect(world.types).toEqual(["errors.high"]);
  // Its calls stay in the ledger for some minutes more.
  world.providers = ["other"];
  await world.clock.pass(2 * MINUTE_MS);
  world.calls = [];
  await world.clock.pass(HOUR_MS);
  for (const stop of stops) stop();
  expect(world.texts.slice(1)).toEqual([
    'The provider "acme" is no longer in the configuration: its calls are not counted.',
  ]);
  expect(world.sent[1]?.json).toMatchObject({
    type: "errors.normal",
    data: { level: "provider", provider: "acme", reason: "provider_removed" },
  });
});

test("0065: the same when the process that reported it is gone, and another starts without the provider", async () => {
  world.calls = [counts("acme", 40, 40)];
  const first = world.process().start();
  await world.clock.pass(5 * MINUTE_MS);
  first();
  world.providers = [];
  const second = world.process().start();
  await world.clock.pass(2 * MINUTE_MS);
  // The process that reported it may still run with it.
  expect(world.types).toEqual(["errors.high"]);
  await world.clock.pass(10 * MINUTE_MS);
  second();
  expect(world.types).toEqual(["errors.high", "errors.normal"]);
});

test("a provider that is added again and fails is a new incident", async () => {
  world.calls = [counts("acme", 40, 40)];
  const stop = world.process().start();
  await world.clock.pass(5 * MINUTE_MS);
  world.providers = [];
  await world.clock.pass(15 * MINUTE_MS);
  world.providers = ["acme"];
  await world.clock.pass(5 * MINUTE_MS);
  stop();
  expect(world.types).toEqual(["errors.high", "errors.normal", "errors.high"]);
});
