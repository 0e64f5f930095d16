import { expect, test } from "bun:test";
import type { LedgerWriter } from "../ledger/writer.ts";
import { gatewayCondition } from "./gateway-condition.ts";
import type { InstanceHeartbeat } from "./instance-heartbeat.ts";

type Phase = Parameters<typeof gatewayCondition>[0]["phase"];

const condition = (
  phase: Phase,
  blindMs = 0,
  ledger: Partial<LedgerWriter> = {},
  heartbeat: Partial<InstanceHeartbeat> = {},
) =>
  gatewayCondition({
    phase,
    changes: { blindMs },
    ledger: { refusal: undefined, trouble: undefined, ...ledger } as LedgerWriter,
    heartbeat: { trouble: undefined, ...heartbeat } as InstanceHeartbeat,
  });

test("choices 9, H29: the gateway is ready while it accepts calls and can keep their receipts; degraded names the cause", () => {
  expect(condition("running")).toEqual({ status: "ready", reasons: [] });
  expect(condition("running", 2_900).status).toBe("ready");
  expect(condition("running", 7_400)).toEqual({
    status: "degraded",
    reasons: ["API keys were last read 7 s ago: keys revoked since then by other processes are still accepted"],
  });
  const away = { trouble: "3 receipts wait for the store: down" };
  const unwritten = { trouble: "cannot write to the database: full" };
  const reasons = [away.trouble, unwritten.trouble];
  expect(condition("running", 0, away, unwritten)).toEqual({ status: "degraded", reasons });
  expect(condition("running", 0, { ...away, refusal: "its journal is full" })).toEqual({
    status: "not ready",
    reasons: ["receipts cannot be stored: its journal is full", away.trouble],
  });
  expect(condition("starting")).toEqual({ status: "not ready", reasons: ["starting"] });
  expect(condition("draining", 0, away)).toEqual({ status: "not ready", reasons: ["draining", away.trouble] });
});
