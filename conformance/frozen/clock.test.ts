import { afterAll, expect, test } from "bun:test";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { faultTable } from "../support/fault-table.ts";
import { sendJson, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const HOUR_MS = 3_600_000;
const KEYS = {
  daily: `sk-trv-${"daily".padEnd(43, "x")}`,
  rated: `sk-trv-${"rated".padEnd(43, "x")}`,
  ending: `sk-trv-${"ending".padEnd(43, "x")}`,
};
const record = faultTable();

/** At noon, so that a step of an hour stays within the day. */
const clock = { ms: Date.UTC(2026, 4, 5, 12) };
const upstream = await startScriptedUpstream();
const gateway = await startTestGateway({
  wallMs: () => clock.ms,
  timings: { heartbeatMs: 20 },
  config: {
    ...scriptedModels(upstream.url),
    keys: [
      { name: "tests", key: `sk-trv-${"ConformanceSuiteKey".padEnd(43, "x")}` },
      // A call costs 0.00002 USD: one fits into the budget, two do not.
      { name: "daily", key: KEYS.daily, limits: { budget_usd_per_day: 0.00003 } },
      { name: "rated", key: KEYS.rated, limits: { requests_per_minute: 2 } },
      { name: "ending", key: KEYS.ending, expires_at: "2026-05-05T13:00:00Z" },
    ],
  },
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
upstream.play((_request, response) => {
  sendJson(response, {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "upstream-model",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
});

const call = (key: string) => callGateway(gateway.url, "chat", key, { body: { max_completion_tokens: 5 } });
async function outcome(key: string): Promise<number> {
  const answer = await call(key);
  await answer.text();
  return answer.status;
}

test("H30: setting the clock neither opens nor closes a limit wrongly, and receipts follow the same clock as budgets", async () => {
  // Rates: two in a minute, however the clock is set meanwhile.
  expect(await outcome(KEYS.rated)).toBe(200);
  clock.ms -= HOUR_MS;
  expect(await outcome(KEYS.rated)).toBe(200);
  clock.ms += 2 * HOUR_MS;
  const limited = await errorOf(await call(KEYS.rated));
  expect(limited.status).toBe(429);
  clock.ms -= HOUR_MS;

  // Money: the day's budget is used up, and stays so within its day.
  expect(await outcome(KEYS.daily)).toBe(200);
  expect(await outcome(KEYS.daily)).toBe(402);
  for (const stepMs of [-HOUR_MS, HOUR_MS]) {
    clock.ms += stepMs;
    expect(await outcome(KEYS.daily)).toBe(402);
    clock.ms -= stepMs;
  }
  // Forward by a day: another budget, which is used up too. Back again: the previous one, still used up.
  clock.ms += 24 * HOUR_MS;
  expect(await outcome(KEYS.daily)).toBe(200);
  expect(await outcome(KEYS.daily)).toBe(402);
  clock.ms -= 24 * HOUR_MS;
  expect(await outcome(KEYS.daily)).toBe(402);

  // Receipts are on the day whose budget they count against.
  const usage = async () => {
    const answer = await fetch(`${gateway.adminUrl}/api/usage?by=day`, {
      headers: { authorization: `Bearer ${gateway.adminSecret}` },
    });
    const { data } = (await answer.json()) as { data: { group: string; calls: number }[] };
    return data.map(({ group, calls }) => [group, calls]);
  };
  clock.ms += 24 * HOUR_MS;
  // Two of the key with a rate, one of the key with a budget; the last on the day after.
  expect(await usage()).toEqual([
    ["2026-05-05", 3],
    ["2026-05-06", 1],
  ]);
  clock.ms -= 24 * HOUR_MS;

  // Expiry is a moment of the same clock.
  expect(await outcome(KEYS.ending)).toBe(200);
  clock.ms += HOUR_MS;
  expect(await outcome(KEYS.ending)).toBe(401);
  record({
    fault: "clock set by an hour and by a day",
    calls: "rates unmoved",
    revocations: "keys expire by the clock",
    readiness: "-",
    shutdown: "-",
    recovery: "at once: each day keeps its own budget",
  });
});
