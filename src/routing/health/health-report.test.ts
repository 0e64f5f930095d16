import { expect, test } from "bun:test";
import { scriptedGateway } from "../../../testing/scripted-gateway.ts";
import { GatewayError } from "../../canon/error.ts";
import { healthReport } from "./health-report.ts";

test("choices 10: reports every provider, with the health of the models that were called", () => {
  const { gateway, targets, clock } = scriptedGateway();
  const { health, snapshot } = gateway;
  const [one] = targets;
  if (one === undefined) throw new Error("no target");
  const report = () => healthReport(snapshot, health, clock.nowMs());
  const credential = (models: object[]) => [{ label: null, weight: 1, models }];
  expect<unknown>(report()).toEqual([
    { provider: "one", credentials: credential([]) },
    { provider: "two", credentials: credential([]) },
  ]);

  for (let at = 0; at < 30; at++) health.answered(one, 250.4, "stream");
  health.generated(one, 100, 1234);
  health.failed(one, {}, new GatewayError("rate_limited", "slow down", { retryAfterSeconds: 3 }));
  expect<unknown>(report()[0]).toEqual({
    provider: "one",
    credentials: credential([
      {
        model: "upstream",
        state: "closed",
        quiet_ms: 3000,
        first_content_ms: 250,
        p95_first_content_ms: 254,
        tokens_per_second: 81,
      },
    ]),
  });

  health.failed(one, {}, new GatewayError("upstream_credentials", "who are you?"));
  expect(report()[0]?.credentials[0]?.models[0]?.state).toBe("open");
});

test("a model that is called in several dialects is one model", () => {
  const { gateway, targets, clock } = scriptedGateway();
  const [one] = targets;
  if (one === undefined) throw new Error("no target");
  gateway.health.answered(one, 5, "whole");
  const { providers } = gateway.snapshot;
  const configured = { providers, targets: { all: () => [one, { ...one, id: "in another dialect" }] } };
  expect(healthReport(configured, gateway.health, clock.nowMs())[0]?.credentials[0]?.models).toHaveLength(1);
});

test("a pause ends on time", async () => {
  const { gateway, targets, clock } = scriptedGateway();
  const [one] = targets;
  if (one === undefined) throw new Error("no target");
  gateway.health.failed(one, {}, new GatewayError("rate_limited", "slow down", { retryAfterSeconds: 3 }));
  gateway.health.failed(one, {}, new GatewayError("upstream_credentials", "who are you?"));
  await clock.pass(25_000);
  expect(healthReport(gateway.snapshot, gateway.health, clock.nowMs())[0]?.credentials[0]?.models).toEqual([
    {
      model: "upstream",
      state: "half_open",
      quiet_ms: 0,
      first_content_ms: null,
      p95_first_content_ms: null,
      tokens_per_second: null,
    },
  ]);
});
