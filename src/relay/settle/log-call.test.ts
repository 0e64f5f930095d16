import { expect, test } from "bun:test";
import type { CallFacts } from "../../observe/call-line.ts";
import { sampleReceipt } from "../../storage/receipts/receipt.sample.ts";
import type { Gateway } from "../gateway.ts";
import { logCall } from "./log-call.ts";

/** What is logged of a call. */
function factsOf(offers: ReturnType<typeof sampleReceipt>["offers"]): CallFacts {
  const logged: CallFacts[] = [];
  const gateway = {
    log: { call: (_: unknown, facts: CallFacts) => logged.push(facts) },
    snapshot: { providers: new Map([["my-vllm", [{ host: "10.0.0.1:8000" }]]]) },
  };
  logCall(gateway as unknown as Gateway, sampleReceipt({ offers }), "req_1");
  const [facts] = logged;
  if (facts === undefined) throw new Error("nothing was logged");
  return facts;
}

test("every failed attempt is logged, even if another one answered", () => {
  const failure = { host: "other.test", status: 503, errno: "ECONNRESET", cure: "check the key", said: "a prompt" };
  const { failures, host, requestId } = factsOf([
    { provider: "other", outcome: "failed", reason: "upstream_failed", ms: 90, failure },
    { provider: "third", outcome: "failed", ms: 1 },
    { provider: "my-vllm", outcome: "answered", ms: 40 },
  ]);
  expect([host, requestId]).toEqual(["10.0.0.1:8000", "req_1"]);
  // S22: not of the provider's own words.
  expect(failures).toEqual([
    {
      provider: "other",
      kind: "upstream_failed",
      host: "other.test",
      status: 503,
      errno: "ECONNRESET",
      cure: "check the key",
    },
    { provider: "third", kind: "internal" },
  ]);
});

test("without failures there is nothing to log", () => {
  expect(factsOf([{ provider: "my-vllm", outcome: "answered", ms: 40 }]).failures).toEqual([]);
});
