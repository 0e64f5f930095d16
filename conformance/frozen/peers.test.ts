import { afterAll, expect, test } from "bun:test";
import { buildCall } from "../../testing/build-call.ts";
import { eventually } from "../../testing/eventually.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { beginCall, callGateway, errorOf } from "../support/client-calls.ts";
import { answeringUpstream, callAll, makeKey, readiness, revoke, timed, until } from "../support/fault-harness.ts";
import { faultTable, seconds } from "../support/fault-table.ts";
import { startRelay } from "../support/freezing-relay.ts";
import { drained, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** Providers and clients have deadlines of many seconds, which the suite shortens; their order is the same. */
const FIRST_BYTE_MS = 1_500;
const timings = { bodyStallMs: 400, slowReaderMs: 400 };
const record = faultTable();
const upstream = await answeringUpstream();

async function start(upstreamUrl: string): Promise<TestGateway> {
  const gateway = await startTestGateway({
    config: modelsOfEveryDialect(upstreamUrl, { first_byte: FIRST_BYTE_MS, idle: FIRST_BYTE_MS }),
    timings,
  });
  afterAll(() => gateway.stop());
  return gateway;
}

test("H29, H18: a provider that freezes on reused connections delays its own calls until their deadline, and no others", async () => {
  const relay = await startRelay(new URL(upstream.url));
  afterAll(() => relay.stop());
  const frozen = await start(`http://127.0.0.1:${relay.port}`);
  await callAll(frozen, 2, SCRIPTED_DIALECTS);
  const key = await makeKey(frozen);
  relay.freeze();
  const calls = SCRIPTED_DIALECTS.map((dialect) => timed(callGateway(frozen.url, dialect, frozen.key).then(errorOf)));
  expect((await readiness(frozen)).body.status).toBe("ready");
  const revokedMs = await revoke(frozen, key);
  const ended = await Promise.all(calls);
  for (const [{ status }] of ended) expect(status).toBe(504);
  const slowestMs = Math.max(...ended.map(([, ms]) => ms));
  await relay.thaw();
  const [, recoveryMs] = await timed(callAll(frozen, 1, SCRIPTED_DIALECTS));

  // Stopping waits for a call to a frozen provider no longer than allowed.
  relay.freeze();
  const last = callGateway(frozen.url, "chat", frozen.key).then(errorOf);
  await eventually("the call", () => frozen.app.active() === 1);
  const [, stopMs] = await timed(frozen.app.stop());
  expect(stopMs).toBeLessThan(10_000);
  expect([503, 504]).toContain((await last).status);
  record({
    fault: "provider frozen (deadline 1.5 s here)",
    calls: `4 of 4 got 504 by ${seconds(slowestMs)}`,
    revocations: `here ${seconds(revokedMs)}`,
    readiness: "200 ready",
    shutdown: `${seconds(stopMs)} with a call in flight`,
    recovery: `next call ${seconds(recoveryMs)}`,
  });
});

test("H29, S17: clients that send half a request, or read nothing, are dropped, and no other client waits", async () => {
  const flood = await startScriptedUpstream();
  afterAll(() => flood.stop());
  const chunk = wire.chatChunk({ content: "x".repeat(100_000) });
  flood.play(async (_request, response) => {
    startEvents(response);
    while (!response.destroyed) {
      if (!response.write(chunk)) await drained(response);
    }
  });
  const flooded = await start(flood.url);
  const gateway = await start(upstream.url);
  const key = await makeKey(gateway);

  const half = buildCall(gateway.url, "chat", gateway.key);
  const text = String(half[1].body);
  const sender = beginCall(half, text.length);
  sender.on("error", () => {});
  let heard = "";
  sender.on("data", (bytes) => {
    heard += String(bytes);
  });
  sender.write(text.slice(0, text.length / 2));

  const call = buildCall(flooded.url, "chat", flooded.key, { stream: true });
  const body = String(call[1].body);
  const reader = beginCall(call, body.length);
  reader.on("error", () => {});
  reader.pause();
  reader.write(body);

  const during = await callAll(gateway, 2);
  const revokedMs = await revoke(gateway, key);
  expect((await readiness(flooded)).body.status).toBe("ready");
  const halfMs = await until("half a request is given up", async () => /^HTTP\/1\.1 4\d\d/.test(heard));
  const readerMs = await until(
    "the upstream of a client that reads nothing is left",
    async () => flood.disconnects === 1,
  );
  sender.destroy();
  reader.destroy();
  const [, stopMs] = await timed(flooded.app.stop());
  expect(stopMs).toBeLessThan(10_000);
  record({
    fault: "clients frozen (deadlines 0.4 s here)",
    calls: `${during.ids.length} of ${during.ids.length} answered, slowest ${seconds(during.slowestMs)}`,
    revocations: `here ${seconds(revokedMs)}`,
    readiness: "200 ready",
    shutdown: seconds(stopMs),
    recovery: `half a request ${seconds(halfMs)}, reads nothing ${seconds(halfMs + readerMs)}`,
  });
});
