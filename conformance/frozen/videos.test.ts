import { afterAll, expect, test } from "bun:test";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startHeldVideoHost } from "../media/held-video-host.ts";
import { idOf, receiptOf, startVideoHarness, until } from "../media/video-harness.ts";
import { faultTable, seconds } from "../support/fault-table.ts";

const USD_PER_SECOND = 0.001;
const SECONDS = 4;
const STATEMENT_MS = 150;

const record = faultTable();
const host = startHeldVideoHost();
const prices = [{ value: USD_PER_SECOND, unit: "perSecond", currency: "USD" }];
const harness = await startVideoHarness({
  providers: { held: { kind: "volcengine", base_url: host.url, api_key: "secret" } },
  models: [
    {
      id: "held/video",
      output_modalities: ["video"],
      pricings: { video: prices, audio_and_video: prices },
      offers: [{ provider: "held", model: "doubao-seedance-1-5-pro-251215" }],
    },
  ],
  timings: { statementMs: STATEMENT_MS },
});
afterAll(async () => {
  await harness.stop();
  await host.stop();
});

const submit = (prompt: string) =>
  fetch(`${harness.gateway.url}/api/genai/v1/publishers/held/models/video:predictLongRunning`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ instances: [{ prompt }], parameters: { durationSeconds: SECONDS } }),
  });

test("H29, H26: a job accepted while the database was unavailable is completed and billed", async () => {
  host.hold();
  const answering = submit("a river");
  await until(() => host.waiting() === 1, "the provider is asked");
  harness.database.run("BEGIN IMMEDIATE");
  host.release();
  // Longer than several statements are waited for.
  await Bun.sleep(6 * STATEMENT_MS);
  harness.database.run("ROLLBACK");
  const freedMs = performance.now();
  const answer = await answering;
  const acceptedMs = performance.now() - freedMs;
  const { name } = (await answer.json()) as { name?: string };
  expect([answer.status, host.taken()]).toEqual([200, 1]);
  host.finish(true);
  const stateOf = () =>
    harness.database.query<{ state: string }, [string]>("SELECT state FROM operations WHERE id = ?").get(idOf(name))
      ?.state;
  await until(() => !["submitting", "running"].includes(stateOf() ?? ""), "the operation ends");
  expect(stateOf()).toBe("done");
  expect((await receiptOf(harness, name)).cost_nano_usd).toBe(USD_PER_SECOND * SECONDS * 1e9);
  record({
    fault: "storage held while a video's job is submitted",
    calls: `the submit waits, 200 ${seconds(acceptedMs)} after it`,
    revocations: "-",
    readiness: "-",
    shutdown: "-",
    recovery: `done ${seconds(performance.now() - freedMs)} after it, billed once`,
  });
});
