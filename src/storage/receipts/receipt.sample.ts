import type { Receipt } from "../../canon/receipt.ts";

/** A receipt for tests with every optional part. */
export function sampleReceipt(changes: Partial<Receipt> = {}): Receipt {
  return {
    id: "rcp_1",
    project: "default",
    key: "key_1",
    createdAtMs: Date.UTC(2026, 0, 31, 12),
    model: "acme/llama",
    provider: "my-vllm",
    upstreamModel: "llama-3",
    verb: "generate",
    clientDialect: "chat",
    upstreamDialect: "messages",
    lane: "translated",
    stream: true,
    outcome: "ok",
    stop: { unified: "length", raw: "max_tokens" },
    offers: [
      { provider: "other", outcome: "failed", reason: "upstream_timeout", ms: 90 },
      { provider: "my-vllm", credential: "2", outcome: "answered", ms: 40 },
    ],
    plan: [
      { provider: "other", place: 1, why: "the first of the providers that were asked for" },
      { provider: "my-vllm", credential: "2", model: "acme/small", place: 2, why: "the fallback" },
    ],
    continued: [{ provider: "my-vllm", fromCharacters: 212 }],
    hedged: true,
    fields: [{ path: "messages[0].name", action: "dropped", reason: "the target has no name field" }],
    usage: { input: 1200, cacheRead: 0, output: 300, seconds: 7.5 },
    usageSource: "estimated",
    corrected: { reported: { input: 1200, cacheRead: 0, output: 90_000 }, reasons: ["output_above_limit"] },
    priceRule: "0.2 perMTokens prompt, 0.6 perMTokens completion",
    costNanoUsd: 420_000,
    firstContentMs: 35,
    totalMs: 131,
    timing: {
      providerFirstContentMs: 100,
      providerStreamMs: 20,
      clientMs: 1,
      backoffMs: 5,
      queueMs: 0,
      gatewayMs: (changes.totalMs ?? 131) - 126,
    },
    requestId: "req_1",
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    batch: { id: "batch_1", line: 7, customId: "row 7" },
    instance: "instance_1",
    tags: ["team-a", "feature=search"],
    endUser: "user-1",
    ...changes,
  };
}
