import { expect, test } from "bun:test";
import { Harness } from "../../testing/harness.ts";
import { SETTINGS, TAKEN } from "../alerts/alerts-world.sample.ts";
import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import { GatewayError } from "../canon/error.ts";
import type { GatewayCondition } from "../server/condition.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import { makeAlerts } from "./make-alerts.ts";

const LOOK_MS = 30_000;

test("alerts about breakers and the condition of the gateway are sent only when these change", async () => {
  const harness = await Harness.start();
  const { gateway, storage, clock, machine, config } = harness;
  const types: string[] = [];
  let condition: GatewayCondition = { status: "not ready", reasons: ["starting"] };
  const alerts = makeAlerts(
    { ...config, alerts: SETTINGS },
    {
      gateway,
      storage,
      sources: { clock, random: machine.random },
      condition: () => condition,
      post: async ({ headers }) => {
        const type = headers["x-trivium-event"] ?? "";
        // That of a refused credential is sent once a day, whatever happens to its provider.
        if (type !== "provider.credential") types.push(type);
        return TAKEN;
      },
    },
  );
  const stop = alerts.start();
  const targets = [...gateway.snapshot.targets.all()];
  const ofOne = targets.filter(({ provider }) => provider.name === targets[0]?.provider.name);
  const [first] = ofOne;
  if (first === undefined) throw new Error("no target");
  await clock.pass(3 * LOOK_MS);
  expect(types).toEqual([]);

  for (const target of ofOne) gateway.health.failed(target, {}, new GatewayError("upstream_credentials", "no"));
  await clock.pass(3 * LOOK_MS);
  expect(types).toEqual(["provider.down"]);
  for (let call = 0; call <= ofOne.length; call++) gateway.health.answered(first, 100, "stream");
  await clock.pass(2 * LOOK_MS);
  expect(types).toEqual(["provider.down", "provider.up"]);

  condition = { status: "degraded", reasons: ["receipts wait"] };
  await clock.pass(3 * LOOK_MS);
  condition = { status: "ready", reasons: [] };
  await clock.pass(2 * LOOK_MS);
  expect(types.slice(2)).toEqual(["gateway.degraded", "gateway.recovered"]);
  stop();
  await alerts.stop();
  await storage.close();
});

test("a provider is down by the share of attempts that fail there, and a model while the provider is up", async () => {
  const harness = await Harness.start();
  const { gateway, storage, clock, machine, config } = harness;
  const told: string[] = [];
  const alerts = makeAlerts(
    { ...config, alerts: SETTINGS },
    {
      gateway,
      storage,
      sources: { clock, random: machine.random },
      condition: () => ({ status: "ready", reasons: [] }),
      post: async ({ headers, body }) => {
        const { data } = JSON.parse(body) as { data: { models?: string[] } };
        told.push(`${headers["x-trivium-event"]} ${(data.models ?? []).join()}`);
        return TAKEN;
      },
    },
  );
  const stop = alerts.start();
  const targets = [...gateway.snapshot.targets.all()];
  const name = targets[0]?.provider.name;
  const [failing, answering] = targets.filter(
    ({ provider, offer }, at) =>
      provider.name === name && targets.findIndex((one) => one.offer.upstreamModel === offer.upstreamModel) === at,
  );
  if (failing === undefined || answering === undefined) throw new Error("too few targets");
  const { upstreamModel: model } = failing.offer;
  const fail = (times: number) => {
    for (let call = 0; call < times; call++) {
      const attempt = {};
      gateway.health.begin(failing, attempt);
      gateway.health.failed(failing, attempt, new GatewayError("upstream_failed", "no"));
    }
  };
  const answer = (times: number) => {
    for (let call = 0; call < times; call++) gateway.health.answered(answering, 100, "whole");
  };
  // One call to another model long ago does not hide that everything fails.
  answer(1);
  fail(20);
  await clock.pass(3 * LOOK_MS);
  expect(told).toEqual([`provider.down ${model}`]);
  answer(60);
  // Each probe that fails doubles the pause.
  for (let probe = 0; probe < 30; probe++) {
    fail(1);
    await clock.pass(LOOK_MS / 3);
  }
  expect(told).toEqual([`provider.down ${model}`, "provider.up ", `model.down ${model}`]);
  gateway.health.answered(failing, 100, "whole");
  await clock.pass(3 * LOOK_MS);
  expect(told.slice(3)).toEqual([`model.up ${model}`]);
  stop();
  await alerts.stop();
  await storage.close();
});

test("failed calls in the ledger raise an alert; client errors and disconnects do not", async () => {
  const harness = await Harness.start();
  const { gateway, storage, clock, machine, config } = harness;
  const texts: string[] = [];
  const alerts = makeAlerts(
    { ...config, alerts: { ...SETTINGS, errors: { percent: 50, minutes: 10, minCalls: 4 } } },
    {
      gateway,
      storage,
      sources: { clock, random: machine.random },
      condition: () => ({ status: "ready", reasons: [] }),
      post: async ({ body }) => {
        texts.push((JSON.parse(body) as { text: string }).text);
        return TAKEN;
      },
    },
  );
  const stop = alerts.start();
  const [provider = ""] = gateway.snapshot.providers.keys();
  let made = 0;
  const settle = (...outcomes: string[]) =>
    insertReceipts(
      storage,
      outcomes.map((outcome) => {
        const createdAtMs = clock.wallMs();
        const id = `${RECEIPT_PREFIX}${timePrefix(createdAtMs)}${++made}`;
        return sampleReceipt({ id, createdAtMs, provider, outcome });
      }),
    );
  await settle("ok", "invalid_request", "content_blocked", "client_gone", "budget_exhausted", "upstream_failed");
  await clock.pass(3 * LOOK_MS);
  expect(texts).toEqual([]);
  await settle("upstream_failed", "upstream_timeout", "upstream_failed", "internal");
  await clock.pass(3 * LOOK_MS);
  expect(texts).toEqual([`50% of the calls of the provider "${provider}" failed: 5 of 10 in the last 10 minutes.`]);
  await clock.pass(30 * LOOK_MS);
  expect(texts).toHaveLength(2);
  stop();
  await alerts.stop();
  await storage.close();
});
