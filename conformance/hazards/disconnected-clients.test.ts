import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { MAX_ORPHANS } from "../../src/relay/attempt/watched-attempt.ts";
import { buildCall } from "../../testing/build-call.ts";
import { eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { beginCall } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { startEvents } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** H26 over sockets, once; every protocol and every moment of a disconnect is in conformance/memory/disconnected-clients.test.ts. */

const { upstream } = await scriptedHarness((url) => ({ config: scriptedModels(url) }));
/** It reads on for longer than any test takes, however busy the machine: what ends sooner is ended by another bound. */
const patient = await startTestGateway({
  config: {
    server: { drain_seconds: 0.2 },
    ...scriptedModels(upstream.url, { first_byte: 60_000, idle: 60_000 }),
  },
  timings: { readOnMs: 60_000 },
});
afterAll(() => patient.stop());

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
  const call = buildCall(patient.url, "chat", patient.key, { stream: true });
  const body = String(call[1].body);
  const socket = beginCall(call, body.length);
  socket.write(body);
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes;
  });
  await eventually("the content", () => text.includes("All but the last"));
  socket.destroy();
  // Another connection is served after the gateway has noticed the end of this one.
  await fetch(`${patient.url}/healthz`);
  held?.end(wire.chatChunk({}, "stop") + wire.chatUsage({ prompt_tokens: 10, completion_tokens: 2_005 }) + wire.done);
  await eventually("the call's row", () => rowsOf(patient).length === 1);
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
  await eventually("all calls are upstream", () => upstream.open === MAX_ORPHANS.orphanedTexts + surplus);
  const before = rowsOf(patient).length;
  for (const socket of sockets) socket.destroy();
  await eventually("the surplus is ended", () => upstream.disconnects === surplus);
  await eventually("their rows", () => rowsOf(patient).length === before + surplus);
  expect(upstream.open).toBe(MAX_ORPHANS.orphanedTexts);
  await patient.app.stop();
  await eventually("the drain ends the others", () => upstream.open === 0);
  const rows = rowsOf(patient).slice(before);
  expect(rows).toHaveLength(MAX_ORPHANS.orphanedTexts + surplus);
  for (const row of rows) expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
});
