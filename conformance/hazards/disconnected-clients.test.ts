import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { MAX_ORPHANS } from "../../src/relay/attempt/watched-attempt.ts";
import { buildCall } from "../../testing/build-call.ts";
import { freePort } from "../../testing/free-port.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { beginCall, callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { startEvents } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** H26 over sockets, once; every protocol and every moment of a disconnect is in conformance/memory/disconnected-clients.test.ts. */

const { upstream } = await scriptedHarness((url) => ({ config: scriptedModels(url) }));
/** It reads on for longer than any test takes, however busy the machine: what ends sooner is ended by another bound. */
const patient = await startTestGateway({
  config: {
    server: { host: "127.0.0.1", port: freePort(), drain_seconds: 0.2 },
    ...scriptedModels(upstream.url, { first_byte: 60_000, idle: 60_000 }),
  },
  timings: { readOnMs: 60_000 },
});
afterAll(() => patient.stop());

async function until(isSo: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`in vain: ${what}`);
    await Bun.sleep(5);
  }
}

function rowsOf({ folder }: TestGateway): object[] {
  const database = new Database(join(folder, "data", "trivium.db"), { readonly: true });
  try {
    return database.query("SELECT * FROM receipts ORDER BY id").all() as object[];
  } finally {
    database.close();
  }
}

test("H26: a client that disconnects at the last word, before the usage, pays by the upstream's figures", async () => {
  let held: ServerResponse | undefined;
  upstream.play((_request, response) => {
    startEvents(response);
    response.write(wire.chatChunk({ content: "All but the last" }));
    held = response;
  });
  const controller = new AbortController();
  const response = await callGateway(patient.url, "chat", patient.key, { stream: true, signal: controller.signal });
  await response.body?.getReader().read();
  controller.abort();
  // By then the gateway has noticed that its client disconnected.
  await Bun.sleep(150);
  held?.end(wire.chatChunk({}, "stop") + wire.chatUsage({ prompt_tokens: 10, completion_tokens: 2_005 }) + wire.done);
  await until(() => rowsOf(patient).length === 1, "the call's row");
  expect(rowsOf(patient)[0]).toMatchObject({
    outcome: "client_gone",
    usage_source: "measured",
    usage_input: 10,
    usage_output: 2_005,
  });
  expect(upstream.disconnects).toBe(0);
});

test("H13: the number of upstreams read without a client is limited, and the end of the drain ends them all", async () => {
  upstream.play(() => {});
  const surplus = 4;
  const sockets = Array.from({ length: MAX_ORPHANS.orphanedTexts + surplus }, () => {
    const call = buildCall(patient.url, "chat", patient.key);
    const body = String(call[1].body);
    const socket = beginCall(call, body.length);
    socket.write(body);
    return socket;
  });
  await until(() => upstream.open === MAX_ORPHANS.orphanedTexts + surplus, "all calls are upstream");
  const before = rowsOf(patient).length;
  for (const socket of sockets) socket.destroy();
  await until(() => upstream.disconnects === surplus, "the surplus is ended");
  await until(() => rowsOf(patient).length === before + surplus, "their rows");
  expect(upstream.open).toBe(MAX_ORPHANS.orphanedTexts);
  await patient.app.stop();
  await until(() => upstream.open === 0, "the drain ends the others");
  const rows = rowsOf(patient).slice(before);
  expect(rows).toHaveLength(MAX_ORPHANS.orphanedTexts + surplus);
  for (const row of rows) expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
});
