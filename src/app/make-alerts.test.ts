import { expect, test } from "bun:test";
import { Harness } from "../../testing/harness.ts";
import { SETTINGS, TAKEN } from "../alerts/alerts-world.sample.ts";
import { GatewayError } from "../canon/error.ts";
import type { Condition } from "../server/condition.ts";
import { makeAlerts } from "./make-alerts.ts";

const LOOK_MS = 30_000;

test("issue 15: breakers of a provider, and the condition of the gateway, are told when they change and not before", async () => {
  const harness = await Harness.start();
  const { gateway, storage, clock, machine, config } = harness;
  const types: string[] = [];
  let condition: Condition = { status: "not ready", reasons: ["starting"] };
  const alerts = makeAlerts(
    { ...config, alerts: SETTINGS },
    {
      gateway,
      storage,
      sources: { clock, random: machine.random },
      condition: () => condition,
      post: async ({ headers }) => {
        types.push(headers["x-trivium-event"] ?? "");
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
  gateway.health.answered(first, 100, "stream");
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
