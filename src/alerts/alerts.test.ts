import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { countUnpricedUse } from "../storage/receipts/unpriced-uses.ts";
import type { Storage } from "../storage/storage.ts";
import { insertBatch } from "../storage/tables/batches.ts";
import { insertObject } from "../storage/tables/objects.ts";
import { dollars, quotedName } from "./alert.ts";
import { AlertsWorld, HOOK, SETTINGS, TAKEN, used } from "./alerts-world.sample.ts";
import { observeGateway, observeProvider } from "./observation.ts";
import { pausesFor } from "./pauses.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let storage: Storage;
let world: AlertsWorld;
beforeEach(async () => {
  storage = await openMemoryStorage(system.clock);
  world = new AlertsWorld(storage);
});
afterEach(() => storage.close());

describe("a budget", () => {
  test("reports each threshold once a period, however often any process looks", async () => {
    const [one, other] = [world.process(), world.process()];
    const look = async (usd: number) => {
      for (const alerts of [one, other, world.process()]) {
        await alerts.tellBudgets([used(usd)], world.clock.wallMs());
        await world.clock.pass(1);
      }
    };
    for (const usd of [4.9, 5, 6, 8.2, 8.3, 9.99, 10, 12]) await look(usd);
    expect(world.sent.map(({ json }) => json.data["threshold_percent"])).toEqual([50, 80, 100]);
    expect(world.texts[1]).toBe('The key "ci" has used 82% of its budget of $10.00 a day: $8.20.');
    await world.clock.pass(DAY_MS);
    await look(5);
    expect(world.sent).toHaveLength(4);
    expect(await world.states()).toEqual(["delivered 1", "delivered 1", "delivered 1", "delivered 1"]);
  });

  test("that passes several thresholds at once reports only the highest", async () => {
    const alerts = world.process();
    await alerts.tellBudgets([used(11)], world.clock.wallMs());
    await alerts.tellBudgets([used(9)], world.clock.wallMs());
    await world.process().tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    expect(world.sent.map(({ json }) => json.data["threshold_percent"])).toEqual([100]);
  });

  test("that was raised counts as new; levels and windows are separate; a budget of zero reports nothing", async () => {
    const alerts = world.process();
    const tell = (...uses: ReturnType<typeof used>[]) => alerts.tellBudgets(uses, world.clock.wallMs());
    await tell(used(5), used(5, { level: "project" }), used(5, { window: "month" }), used(5, { window: "total" }));
    await tell(used(15, { limitNanoUsd: 30e9 }), used(0, { limitNanoUsd: 0, ratio: 1 }));
    await world.clock.pass(1);
    expect(world.sent.map(({ json: { data } }) => [data["level"], data["window"], data["period"]])).toEqual([
      ["key", "day", "2026-01-01"],
      ["project", "day", "2026-01-01"],
      ["key", "month", "2026-01"],
      ["key", "total", "total"],
      ["key", "day", "2026-01-01"],
    ]);
    expect(world.sent[4]?.json.data).toMatchObject({
      spent_nano_usd: 15e9,
      limit_nano_usd: 30e9,
      spent_usd: "15.00",
      limit_usd: "30.00",
      resets_at: "2026-01-02T00:00:00.000Z",
    });
  });

  test("each week and each quarter is a period, named by itself", async () => {
    const alerts = world.process();
    const tell = async (window: "week" | "quarter") => {
      await alerts.tellBudgets([used(5, { window })], world.clock.wallMs());
      await world.clock.pass(1);
    };
    // The year begins on a Thursday.
    for (let day = 0; day < 12; day++) {
      await tell("week");
      await tell("quarter");
      await world.clock.pass(DAY_MS);
    }
    for (let month = 0; month < 5; month++) {
      await tell("quarter");
      await world.clock.pass(30 * DAY_MS);
    }
    expect(world.sent.map(({ json: { data } }) => [data["window"], data["period"]])).toEqual([
      ["week", "2026-W01"],
      ["quarter", "2026-Q1"],
      ["week", "2026-W02"],
      ["week", "2026-W03"],
      ["quarter", "2026-Q2"],
    ]);
  });

  test("H30: a clock that is set back a day and forward again repeats no alert", async () => {
    const look = async (usd: number) => {
      await world.process().tellBudgets([used(usd)], world.clock.wallMs());
      await world.clock.pass(1);
    };
    await look(5);
    world.clock.stepWall(DAY_MS);
    await look(5);
    world.clock.stepWall(-DAY_MS);
    await look(6);
    world.clock.stepWall(DAY_MS);
    await look(6);
    expect(world.sent).toHaveLength(2);
  });

  test("is compared in whole nano-dollars, even where a hundredfold exceeds a safe integer", async () => {
    const limitNanoUsd = 900_000_000_000_001;
    const look = (spentNanoUsd: number) =>
      world.process().tellBudgets([used(0, { spentNanoUsd, limitNanoUsd })], world.clock.wallMs());
    await look(limitNanoUsd - 1);
    await world.clock.pass(1);
    expect(world.sent[0]?.json.data).toMatchObject({ threshold_percent: 80, used_percent: 99 });
    await look(limitNanoUsd);
    await world.clock.pass(1);
    expect(world.sent[1]?.json.data).toMatchObject({ threshold_percent: 100, limit_usd: "900000.000000001" });
  });
});

describe("decision 0083: something without a known price", () => {
  const use = {
    keyId: "key_1",
    name: "hologram",
    producedBy: "hologram",
    project: "default",
    model: "m",
    provider: "p",
  };

  test("is reported once a day for each key and name, however often any process looks", async () => {
    const note = (name = "hologram") =>
      countUnpricedUse(world.storage, { ...use, name, receiptId: "rcp_1", lastAtMs: world.clock.wallMs() });
    await note();
    for (let looks = 0; looks < 3; looks++) {
      await world.process().look();
      await world.clock.pass(1);
    }
    expect(world.sent.map(({ json }) => [json.type, json.data["name"], json.data["key"]])).toEqual([
      ["spend.unpriced", "hologram", "key_1"],
    ]);
    await note("teleport");
    await world.process().look();
    await world.clock.pass(1);
    expect(world.sent).toHaveLength(2);
    world.clock.stepWall(DAY_MS);
    await note();
    await world.process().look();
    await world.clock.pass(1);
    expect(world.sent.at(-1)?.json.data).toMatchObject({ name: "hologram", calls: 2, receipt: "rcp_1" });
    expect(world.sent).toHaveLength(3);
  });
});

describe("decision 0112: a batch", () => {
  test("that failed or expired is reported once, however often any process looks; others are not", async () => {
    const random = (letter: string) => letter.repeat(22);
    const insert = async (letter: string, state: string, metadata: object = {}) => {
      const createdAtMs = world.clock.wallMs();
      const id = random(letter);
      const owned = { id, kind: "batch", project: "red", keyId: "key_1", share: "project" } as const;
      await insertObject(storage, { ...owned, state, size: 0, metadata: { ...metadata }, createdAtMs });
      await insertBatch(storage, { id, form: "chat", endpoint: "/v1/chat/completions", deadlineAtMs: createdAtMs });
    };
    const endedAtMs = world.clock.wallMs() + 5;
    const errors = [{ code: "invalid_json_line", message: "This line is no object. <!channel>", line: 3 }];
    await insert("a", "failed", { errors, at: { failed: endedAtMs } });
    await insert("b", "expired");
    await insert("c", "completed");
    await insert("d", "in_progress");
    for (const alerts of [world.process(), world.process()]) {
      for (let looks = 0; looks < 3; looks++) await alerts.look();
      await world.clock.pass(1);
    }
    expect(world.sent.map(({ json }) => [json.type, json.data["batch"], json.data["state"]]).toSorted()).toEqual([
      ["batch.failed", `batch_${random("a")}`, "failed"],
      ["batch.failed", `batch_${random("b")}`, "expired"],
    ]);
    const failed = world.sent.find(({ json }) => json.data["state"] === "failed")?.json;
    expect(failed?.text).toBe(
      `The batch batch_${random("a")} of the project "red" failed, and none of its requests were run. Line 3: This line is no object. ‹!channel›`,
    );
    expect(failed?.data).toMatchObject({
      key: "key_1",
      error: { code: "invalid_json_line", line: 3 },
      ended_at: new Date(endedAtMs).toISOString(),
    });
  });
});

describe("what is sent", () => {
  test("S07, S10: is signed with a timestamp and has an id; it contains neither the secret nor the address", async () => {
    await world.process().tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    const [
      { headers, body, json, url } = { headers: {} as Record<string, string>, body: "", json: undefined, url: "" },
    ] = world.sent;
    const [, seconds = "", digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers["x-trivium-signature"] ?? "") ?? [];
    expect(Number(seconds)).toBe(Math.floor(world.clock.wallMs() / 1000));
    expect(digest).toBe(createHmac("sha256", "a-secret-of-the-hook").update(`${seconds}.${body}`).digest("hex"));
    expect([headers["x-trivium-id"], headers["x-trivium-event"]]).toEqual([json?.id, "budget.threshold"]);
    expect([url, body.includes("hook.test"), body.includes("a-secret")]).toEqual([HOOK.url.reveal(), false, false]);
  });

  test("S14: a key's name mentions nobody in a chat, and the data has its exact form", async () => {
    const name = "<!channel> @here <http://x|y>\u202e";
    await world.process().tellBudgets([used(5, { name })], world.clock.wallMs());
    await world.clock.pass(1);
    expect(world.texts[0]).not.toMatch(/[<>@\u202e]/);
    expect(world.sent[0]?.json.data["name"]).toBe(name);
    expect(quotedName("x".repeat(200))).toHaveLength(83);
  });

  test("goes to the webhooks that subscribe to it; without any, nothing is written", async () => {
    const wanting = { ...SETTINGS, webhooks: [HOOK, { ...HOOK, name: "other", events: ["provider.down"] as const }] };
    await world.process({ ...SETTINGS, webhooks: [] }).tellBudgets([used(5)], world.clock.wallMs());
    expect(await world.states()).toEqual([]);
    await world.process(wanting).tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    expect(await world.states()).toEqual(["delivered 1"]);
  });

  test("dollars keep every significant digit", () => {
    expect([0, 1, 1_500_000_000, 10e9, -20_000_000].map(dollars)).toEqual([
      "0.00",
      "0.000000001",
      "1.50",
      "10.00",
      "-0.02",
    ]);
  });
});

describe("a receiver that rejects an alert", () => {
  test("is retried with growing pauses for the configured hours, with the same id and body; then the delivery fails", async () => {
    world.answer = () => ({ ...TAKEN, status: 500 });
    const alerts = world.process();
    const stop = alerts.start();
    await alerts.tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(30 * HOUR_MS);
    stop();
    const tries = pausesFor(24).length + 1;
    expect(world.sent).toHaveLength(tries);
    expect(await world.states()).toEqual([`failed ${tries}`]);
    expect(new Set(world.sent.map(({ body }) => body)).size).toBe(1);
    const first = world.sent[0]?.atMs ?? 0;
    const last = world.sent.at(-1)?.atMs ?? 0;
    expect((last - first) / HOUR_MS).toBeGreaterThan(23.9);
    expect(world.problems).toHaveLength(1);
    expect(world.problems.join()).not.toContain("a-secret-path");
  });

  test("and accepts it later gets it once more, and never again", async () => {
    let answers = 0;
    world.answer = () => (++answers < 3 ? { ...TAKEN, status: 503, retryAfterMs: 60_000 } : TAKEN);
    const alerts = world.process();
    const stop = alerts.start();
    await alerts.tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(HOUR_MS);
    stop();
    expect(await world.states()).toEqual(["delivered 3"]);
    expect((world.sent[1]?.atMs ?? 0) - (world.sent[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(60_000);
  });

  test("and answers 410 Gone is not retried", async () => {
    world.answer = () => ({ ...TAKEN, status: 410 });
    await world.process().tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    expect(await world.states()).toEqual(["failed 1"]);
  });

  test("H30: a clock that is set back by a week delays no attempt", async () => {
    let answers = 0;
    world.answer = () => (++answers === 1 ? { ...TAKEN, status: 500 } : TAKEN);
    const alerts = world.process();
    const stop = alerts.start();
    await alerts.tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    world.clock.stepWall(-7 * DAY_MS);
    await world.clock.pass(60_000);
    stop();
    expect(await world.states()).toEqual(["delivered 2"]);
  });

  test("does not delay other webhooks", async () => {
    const frozen = { ...HOOK, name: "frozen" };
    world.answer = ({ abort }) =>
      world.sent.at(-1)?.json.data["id"] === "key_1" && world.sent.length % 2 === 1
        ? new Promise((_, reject) => abort.addEventListener("abort", () => reject(new Error("stopped"))))
        : TAKEN;
    const alerts = world.process({ ...SETTINGS, webhooks: [frozen, { ...HOOK, name: "quick" }] });
    await alerts.tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    expect((await world.states()).sort()).toEqual(["delivered 1", "pending 0"]);
    await alerts.stop();
    expect((await world.states()).sort()).toEqual(["delivered 1", "pending 0"]);
  });

  test("does not fill the storage: beyond a thousand pending, an alert is recorded as not sent", async () => {
    world.answer = () => ({ ...TAKEN, status: 500 });
    const alerts = world.process();
    const uses = Array.from({ length: 1_002 }, (_, index) => used(5, { id: `key_${index}` }));
    await alerts.tellBudgets(uses, world.clock.wallMs());
    await alerts.stop();
    const [row] = await storage.query(
      "SELECT COUNT(*) AS count FROM alert_deliveries WHERE state = 'failed' AND tries = 0 AND error LIKE 'not sent%'",
    );
    expect(Number(row?.["count"])).toBe(2);
  });
});

describe("a process", () => {
  test("that dies while it sends is replaced by another, with the same id", async () => {
    world.answer = () => new Promise(() => {});
    const dying = world.process();
    await dying.tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    world.answer = () => TAKEN;
    const stop = world.process().start();
    await world.clock.pass(50_000);
    expect(world.sent).toHaveLength(1);
    await world.clock.pass(20_000);
    stop();
    expect(new Set(world.sent.map(({ json }) => json.id)).size).toBe(1);
    expect([world.sent.length, await world.states()]).toEqual([2, ["delivered 1"]]);
  });

  test("that stops releases what it was sending, for the next to send at once", async () => {
    world.answer = ({ abort }) =>
      new Promise((_, reject) => abort.addEventListener("abort", () => reject(new Error("stopped"))));
    const first = world.process();
    await first.tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    await first.stop();
    world.answer = () => TAKEN;
    const stop = world.process().start();
    await world.clock.pass(1);
    stop();
    expect(await world.states()).toEqual(["delivered 1"]);
  });

  test("with another configuration leaves deliveries of webhooks that it does not know to others; a reload sends them", async () => {
    world.answer = () => ({ ...TAKEN, status: 500 });
    await world.process().tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    const other = world.process({ ...SETTINGS, webhooks: [{ ...HOOK, name: "another" }] });
    const stop = other.start();
    world.answer = () => TAKEN;
    await world.clock.pass(HOUR_MS);
    expect(await world.states()).toEqual(["pending 1"]);
    other.reconfigure(SETTINGS);
    await world.clock.pass(1);
    stop();
    expect(await world.states()).toEqual(["delivered 2"]);
  });

  test("ends deliveries that no process makes any more, and removes old alerts", async () => {
    world.answer = () => ({ ...TAKEN, status: 500 });
    await world.process().tellBudgets([used(5)], world.clock.wallMs());
    await world.clock.pass(1);
    const stop = world.process({ ...SETTINGS, webhooks: [{ ...HOOK, name: "another" }] }).start();
    world.clock.stepWall(11 * DAY_MS);
    await world.clock.pass(HOUR_MS);
    expect(await world.states()).toEqual(["failed 1"]);
    world.clock.stepWall(90 * DAY_MS);
    await world.clock.pass(HOUR_MS);
    stop();
    expect(await world.states()).toEqual([]);
  });
});

const seen = (isDown: boolean) => () =>
  observeProvider({ provider: "acme", isDown, models: [{ model: "m", state: isDown ? "open" : "closed" }] });

describe("a provider", () => {
  test("without a call is not observed; while it is up, so is each of its models that was called lately", () => {
    const states = (isDown: boolean | undefined, ...models: ("open" | "half_open" | "closed")[]) =>
      observeProvider({
        provider: "acme",
        isDown,
        models: models.map((state, at) => ({ model: `m${at}`, state })),
      }).map(({ subject, state }) => `${subject} ${state}`);
    expect(states(undefined)).toEqual([]);
    expect(states(true, "open", "closed")).toEqual(["provider acme down"]);
    expect(states(false, "open", "closed", "half_open")).toEqual([
      "provider acme up",
      'model ["acme","m0"] down',
      'model ["acme","m1"] up',
    ]);
  });

  test("is reported once for each incident by all processes together, after two looks, and once when it recovers", async () => {
    let isDown = true;
    const processes = [1, 2, 3].map(() => world.process(SETTINGS, () => seen(isDown)()));
    const stops = processes.map((alerts) => alerts.start());
    await world.clock.pass(29_000);
    expect(world.types).toEqual([]);
    await world.clock.pass(300_000);
    expect(world.types).toEqual(["provider.down"]);
    isDown = false;
    await world.clock.pass(60_000);
    for (const stop of stops) stop();
    expect(world.types).toEqual(["provider.down", "provider.up"]);
  });

  test("0060: that is removed from the configuration while it is down is reported once more, with the reason", async () => {
    const observe = () => (world.providers.includes("acme") ? seen(true)() : []);
    const stops = [1, 2].map(() => world.process(SETTINGS, observe).start());
    await world.clock.pass(300_000);
    world.providers = [];
    await world.clock.pass(HOUR_MS);
    for (const stop of stops) stop();
    expect(world.types).toEqual(["provider.down", "provider.up"]);
    expect(world.sent[1]?.json).toMatchObject({
      text: 'The provider "acme" is no longer in the configuration.',
      data: { provider: "acme", reason: "provider_removed" },
    });
  });

  test("that flaps is reported once in ten minutes", async () => {
    let at = 0;
    const alerts = world.process(SETTINGS, () => seen(Math.floor(at++ / 3) % 2 === 0)());
    const stop = alerts.start();
    await world.clock.pass(HOUR_MS);
    stop();
    const downs = world.types.filter((type) => type === "provider.down").length;
    expect([downs >= 3, downs <= 6]).toEqual([true, true]);
  });

  test("whose owner has died is reported as up by another process, once the owner is stale", async () => {
    let isDown = true;
    const stopFirst = world.process(SETTINGS, () => seen(isDown)()).start();
    await world.clock.pass(61_000);
    stopFirst();
    isDown = false;
    const stop = world.process(SETTINGS, () => seen(isDown)()).start();
    await world.clock.pass(200_000);
    expect(world.types).toEqual(["provider.down"]);
    await world.clock.pass(200_000);
    stop();
    expect(world.types).toEqual(["provider.down", "provider.up"]);
  });
});

describe("an incident whose process has died", () => {
  const down = () => seen(true)();

  test("is taken over by the next process that sees it, and not reported again however long it lasts", async () => {
    const stopFirst = world.process(SETTINGS, down).start();
    await world.clock.pass(61_000);
    stopFirst();
    const stopSecond = world.process(SETTINGS, down).start();
    await world.clock.pass(3 * HOUR_MS);
    stopSecond();
    const stopThird = world.process(SETTINGS, down).start();
    await world.clock.pass(3 * HOUR_MS);
    stopThird();
    expect(world.types).toEqual(["provider.down"]);
  });

  test("and that no process has seen for an hour is over: the next one is reported", async () => {
    const stopFirst = world.process(SETTINGS, down).start();
    await world.clock.pass(61_000);
    stopFirst();
    await world.clock.pass(2 * HOUR_MS);
    const stop = world.process(SETTINGS, down).start();
    await world.clock.pass(61_000);
    stop();
    expect(world.types).toEqual(["provider.down", "provider.down"]);
  });
});

describe("a gateway that is degraded", () => {
  test("reports it from memory while the storage is unavailable, and writes it down afterwards", async () => {
    let isAway = true;
    const failing: Storage = {
      ...storage,
      engine: storage.engine,
      query: (...given) => (isAway ? Promise.reject(new Error("away")) : storage.query(...given)),
      transaction: (...given) => (isAway ? Promise.reject(new Error("away")) : storage.transaction(...given)),
    };
    let answers = 0;
    world.answer = () => (++answers === 1 ? { ...TAKEN, status: 500 } : TAKEN);
    const alerts = world.process(
      SETTINGS,
      () => [observeGateway("host, process 1", isAway ? ["receipts wait"] : [])],
      failing,
    );
    const stop = alerts.start();
    await world.clock.pass(300_000);
    expect(world.texts).toEqual([
      'The gateway at "host, process 1" is degraded: receipts wait.',
      'The gateway at "host, process 1" is degraded: receipts wait.',
    ]);
    isAway = false;
    await world.clock.pass(120_000);
    stop();
    expect(world.types).toEqual(["gateway.degraded", "gateway.degraded", "gateway.recovered"]);
    expect(await world.states()).toEqual(["delivered 1", "delivered 2"]);
  });

  test("is not reported where the configuration disables it", async () => {
    const settings = { ...SETTINGS, gatewayDegraded: false, providerDown: false };
    const observe = () => [observeGateway("here", ["away"]), ...seen(true)()];
    const stop = world.process(settings, observe).start();
    await world.clock.pass(HOUR_MS);
    stop();
    expect(world.types).toEqual([]);
  });
});

test("pauses grow to two hours, and follow the receiver's Retry-After", () => {
  expect(pausesFor(0)).toEqual([]);
  const pauses = pausesFor(24);
  expect([pauses[0], pauses[1], Math.max(...pauses)]).toEqual([5_000, 15_000, 2 * HOUR_MS]);
  expect(pauses.reduce((sum, one) => sum + one, 0)).toBe(24 * HOUR_MS);
});
