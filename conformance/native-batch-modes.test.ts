import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { system } from "../src/base/system.ts";
import { eventually } from "../testing/eventually.ts";
import type { PlayedBatchHost } from "../testing/hosts/batch-host.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { BatchClients, nativeModels, receiptRows, startBatchHost } from "./support/native-batches.ts";
import { startTestGateway } from "./support/test-gateway.ts";

const LIMITED = "trv_limited_key_of_this_test_0002";

let host: PlayedBatchHost;
beforeAll(async () => {
  host = await startBatchHost();
});
afterAll(() => host.stop());

const line = (id: string, model: string) => ({ id, model, content: `say-${id}` });

async function withMode(mode: "auto" | "own" | "native", work: (clients: BatchClients) => Promise<void>) {
  host.reset();
  const keys = [
    { name: "tests", key: TEST_KEY },
    { name: "limited", key: LIMITED, limits: { budget_usd_total: 1 } },
  ];
  const gateway = await startTestGateway({ config: { ...nativeModels(host.url), batch: { mode }, keys } });
  try {
    await work(new BatchClients(gateway, mode === "native" ? LIMITED : TEST_KEY));
    return await receiptRows(gateway);
  } finally {
    await gateway.stop();
  }
}

describe("decision 0108: batch.mode", () => {
  test("own: the gateway runs what a provider's batch API could run", async () => {
    await withMode("own", async (clients) => {
      const outcome = await clients.run("chat", [line("a", "test/chat")]);
      expect(outcome).toMatchObject({ state: "completed", lines: [{ ok: true }] });
    });
    expect(host.counts).toMatchObject({ creations: 0, calls: 1 });
  });

  test("native: a batch that no batch API can run fails, and says why", async () => {
    const rows = await withMode("native", async (clients) => {
      const mixed = await clients.run("chat", [line("a", "test/chat"), line("b", "test/messages")]);
      expect(mixed.state).toBe("failed");
      expect(mixed.shown).toContain("Line 2: Its requests go to more than one offer.");
      // choices 11: the price is unknown, and the key has a budget.
      const unpriced = await clients.run("chat", [line("a", "test/unpriced")]);
      expect(unpriced.state).toBe("failed");
      expect(unpriced.shown).toContain("price_multiples: { batch: … }");
      host.faults.refusals = { status: 400, times: 1 };
      const refused = await clients.run("chat", [line("a", "test/chat")]);
      expect(refused.state).toBe("failed");
      expect(refused.shown).toContain("This batch is refused.");
      expect(await clients.run("chat", [line("a", "test/chat")])).toMatchObject({ state: "completed" });
    });
    expect(host.counts).toMatchObject({ creations: 2, calls: 0 });
    expect(rows.length).toBe(1);
  });
});

describe("H24: a batch whose credential is not configured any more", () => {
  test("waits for an hour, then fails and says what the provider may bill", async () => {
    host.reset();
    host.faults.isHeld = true;
    let laterMs = 0;
    const config = { ...nativeModels(host.url), keys: [{ name: "tests", key: TEST_KEY }] };
    const gateway = await startTestGateway({
      config,
      wallMs: () => Date.now() + laterMs,
      nowMs: () => system.clock.nowMs() + laterMs,
    });
    try {
      const clients = new BatchClients(gateway, TEST_KEY);
      const id = await clients.create("chat", [line("a", "test/chat"), line("b", "test/chat")]);
      await eventually("the batch at the host", () => host.counts.creations === 1 && host.counts.polls > 0);
      const before = readFileSync(gateway.configFile, "utf8");
      writeFileSync(gateway.configFile, before.replace("upstream-secret-chat", "upstream-secret-rotated"));
      gateway.app.reload();
      laterMs = 30 * 60_000;
      // The runner has looked at both when a later one has ended.
      host.faults.isHeld = false;
      expect(await clients.run("messages", [line("c", "test/messages")])).toMatchObject({ state: "ended" });
      expect((await clients.openai.batches.retrieve(id)).status).toBe("in_progress");
      laterMs = 120 * 60_000;
      await eventually(
        "the batch to fail",
        async () => (await clients.openai.batches.retrieve(id)).status === "failed",
      );
      const shown = JSON.stringify(await clients.openai.batches.retrieve(id));
      expect(shown).toContain("is not configured any more");
      expect(shown).toContain("up to 2 of its requests");
      expect((await receiptRows(gateway)).length).toBe(1);
    } finally {
      await gateway.stop();
    }
  }, 60_000);
});
