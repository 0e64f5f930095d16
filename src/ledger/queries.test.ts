import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { insertKey } from "../storage/tables/keys.ts";
import { findReceipt, spentByOwner, summariseUsage } from "./queries.ts";
import { receiptView, usageView } from "./receipt-view.ts";

describe("ledger queries", () => {
  let storage: Storage;
  beforeEach(async () => {
    storage = await openMemoryStorage(system.clock);
  });
  afterEach(() => storage.close());

  test("S09: another project's receipt looks like one that does not exist", async () => {
    await insertReceipts(storage, [sampleReceipt({ project: "theirs" })]);
    expect(await findReceipt(storage, "theirs", "rcp_1")).toEqual(sampleReceipt({ project: "theirs" }));
    expect(await findReceipt(storage, "ours", "rcp_1")).toBeUndefined();
  });

  test("S13: a report has at most a thousand groups, and text from callers is never a pattern", async () => {
    const receipts = Array.from({ length: 1_001 }, (_, index) =>
      sampleReceipt({ id: `rcp_${timePrefix(1)}${index}`, model: `acme/m${index}`, createdAtMs: 1 }),
    );
    await insertReceipts(storage, receipts);
    const range = { sinceMs: 0, untilMs: 2, by: ["model"] } as const;
    expect(await summariseUsage(storage, range)).toHaveLength(1_000);
    expect(await summariseUsage(storage, { ...range, keyId: "key%" })).toEqual([]);
    expect(await findReceipt(storage, "default", "rcp_%")).toBeUndefined();
  });

  test("days are named by their UTC date, in order", async () => {
    await insertReceipts(storage, [
      sampleReceipt({ id: "rcp_~1", createdAtMs: Date.UTC(2026, 0, 31, 23, 59), costNanoUsd: 9 }),
      sampleReceipt({ id: "rcp_~2", createdAtMs: Date.UTC(2026, 1, 1), costNanoUsd: 50 }),
    ]);
    const days = await summariseUsage(storage, { sinceMs: 0, untilMs: Date.UTC(2030, 0), by: ["day"] });
    expect(days.map(({ groups, costNanoUsd }) => [...groups, costNanoUsd])).toEqual([
      ["2026-01-31", 9],
      ["2026-02-01", 50],
    ]);
  });

  test("H23: budgets start from the ledger's sums of the current day and month", async () => {
    const nowMs = Date.UTC(2026, 1, 2, 15);
    await insertReceipts(storage, [
      sampleReceipt({ id: "rcp_~1", createdAtMs: Date.UTC(2026, 1, 2), costNanoUsd: 1 }),
      sampleReceipt({ id: "rcp_~2", createdAtMs: Date.UTC(2026, 1, 1, 23, 59), costNanoUsd: 10 }),
      sampleReceipt({ id: "rcp_~3", createdAtMs: Date.UTC(2026, 0, 31), costNanoUsd: 100 }),
      sampleReceipt({ id: "rcp_~4", createdAtMs: nowMs, costNanoUsd: 5, key: "key_2" }),
      sampleReceipt({ id: "rcp_~5", createdAtMs: nowMs, costNanoUsd: 1, key: "key_2", project: "other" }),
    ]);
    const { byKey, byProject, all } = await spentByOwner(storage, nowMs);
    expect(byKey.get("key_1")).toMatchObject({ day: 1, month: 11, total: 111 });
    expect(byKey.get("key_2")).toMatchObject({ day: 6, month: 6, total: 6 });
    expect(byProject.get("default")).toMatchObject({ day: 6, month: 16, total: 116 });
    expect(byProject.get("other")).toMatchObject({ day: 1, month: 1, total: 1 });
    expect(all).toMatchObject({ day: 7, month: 17, total: 117 });
    // The second of February was a Monday.
    expect(all).toMatchObject({ week: 7, quarter: 117, requests: 3, tokens: 4500 });
  });

  test("S05: the spending of child keys counts for their parent as well", async () => {
    const key = { name: "k", project: "default", hint: "", models: ["*"], limits: {}, createdAtMs: 1 };
    await insertKey(storage, { ...key, id: "maker", hash: "1" });
    await insertKey(storage, { ...key, id: "child", hash: "2", madeBy: "maker" });
    await insertReceipts(storage, [
      sampleReceipt({ id: "rcp_~1", costNanoUsd: 1, key: "child" }),
      sampleReceipt({ id: "rcp_~2", costNanoUsd: 10, key: "maker" }),
    ]);
    const { byKey, all } = await spentByOwner(storage, Date.UTC(2030, 0));
    expect([byKey.get("maker")?.total, byKey.get("child")?.total, all.total]).toEqual([11, 1, 11]);
  });
});

describe("receiptView", () => {
  test("choices 6: shows the receipt in the public form", () => {
    const {
      firstContentMs: _first,
      stop: _stop,
      plan: _plan,
      continued: _continued,
      hedged: _hedged,
      guards: _guards,
      corrected: _corrected,
      tags: _tags,
      timing: _timing,
      requestId: _request,
      traceId: _trace,
      ...receipt
    } = sampleReceipt();
    expect(receiptView(sampleReceipt())).toEqual({
      data: {
        id: "rcp_1",
        created_at: "2026-01-31T12:00:00.000Z",
        model: "acme/llama",
        provider: "my-vllm",
        upstream_model: "llama-3",
        dialect: { client: "chat", upstream: "messages" },
        lane: "translated",
        stream: true,
        stop: { unified: "length", raw: "max_tokens" },
        plan: [
          {
            provider: "other",
            credential: null,
            model: null,
            place: 1,
            why: "the first of the providers that were asked for",
          },
          { provider: "my-vllm", credential: "2", model: "acme/small", place: 2, why: "the fallback" },
        ],
        offers: [
          { provider: "other", credential: null, outcome: "failed", reason: "upstream_timeout", ms: 90, files: null },
          { provider: "my-vllm", credential: "2", outcome: "answered", reason: null, ms: 40, files: null },
        ],
        continued: [{ provider: "my-vllm", from_characters: 212 }],
        hedged: true,
        answered_by: null,
        require: null,
        guards: [{ name: "pii", on: "request", verdict: "redacted", count: 2, paths: [], reason: "email", ms: 1 }],
        fields: [{ path: "messages[0].name", action: "dropped", reason: "the target has no name field" }],
        tags: ["team-a", "feature=search"],
        end_user: "user-1",
        usage: {
          input: 1200,
          cache_read: 0,
          cache_write_5m: null,
          cache_write_1h: null,
          output: 300,
          reasoning: null,
          image_input: null,
          audio_input: null,
          image_output: null,
          audio_output: null,
          images: null,
          seconds: 7.5,
          characters: null,
          searches: null,
          tools: null,
        },
        usage_source: "estimated",
        cached: false,
        saved_nano_usd: 0,
        cached_answer: null,
        reported: {
          ...Object.fromEntries(Object.keys(usageView({})).map((name) => [name, null])),
          ...{ input: 1200, cache_read: 0, output: 90_000 },
        } as ReturnType<typeof usageView>,
        usage_corrections: ["output_above_limit"],
        price_rule: "0.2 perMTokens prompt, 0.6 perMTokens completion",
        cost_usd: 0.00042,
        cost_nano_usd: 420_000,
        unpriced: [],
        first_content_ms: 35,
        total_ms: 131,
        timing: {
          provider_first_content_ms: 100,
          provider_stream_ms: 20,
          client_ms: 1,
          backoff_ms: 5,
          queue_ms: 0,
          gateway_ms: 5,
        },
        request_id: "req_1",
        session_id: null,
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
        batch: { id: "batch_1", line: 7, custom_id: "row 7" },
      },
    });
    expect(receiptView(receipt).data).toMatchObject({
      stop: null,
      first_content_ms: null,
      plan: null,
      continued: [],
      hedged: false,
      guards: [],
      reported: null,
      usage_corrections: [],
      tags: [],
      timing: null,
      request_id: null,
      session_id: null,
      trace_id: null,
    });
    // Only the operator sees the project and the key.
    expect(JSON.stringify(receiptView(receipt))).not.toContain("key_1");
  });
});
