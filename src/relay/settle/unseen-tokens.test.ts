import { describe, expect, test } from "bun:test";
import type { UpstreamDialectName } from "../../canon/dialect-name.ts";
import type { ReasoningRequest } from "../../canon/reasoning.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { UPSTREAM_CODECS } from "../../dialects/index.ts";
import type { TextTarget } from "../../routing/target.ts";
import type { Call } from "../call.ts";
import { type EndedAnswer, unseenTokens } from "./unseen-tokens.ts";

interface Asked {
  via?: UpstreamDialectName;
  reasons?: boolean;
  amount?: ReasoningRequest["amount"];
  /** The caller's limit of the answer, and how many answers it wants. */
  limit?: number;
  answers?: number;
}

function unseen({ via = "chat", reasons = true, amount, limit, answers = 1 }: Asked, ended: EndedAnswer): number {
  const requests: Pick<Dialect["requests"], "outputLimit" | "answerCount" | "reasoning"> = {
    outputLimit: () => limit,
    answerCount: () => answers,
    reasoning: () => (amount === undefined ? undefined : { amount, path: "reasoning" }),
  };
  const target: Pick<TextTarget, "codec"> = { codec: UPSTREAM_CODECS[via] };
  const model: Pick<Call["model"], "reasoning" | "maxOutputTokens"> = { reasoning: reasons, maxOutputTokens: 100_000 };
  const call = { incoming: { dialect: { requests } }, model, body: {}, attempt: { target } };
  return unseenTokens(call as unknown as Call, ended);
}

describe("H26: an answer that was ended before anything of it was seen", () => {
  const after = (waitedMs: number): EndedAnswer => ({ contentSeen: false, reasoningSeen: false, waitedMs });

  test("costs what its time allows, up to the requested limit", () => {
    expect(unseen({}, after(0))).toBe(0);
    expect(unseen({}, after(2_000))).toBe(500);
    expect(unseen({}, after(2_001))).toBe(501);
    expect(unseen({ limit: 100 }, after(2_000))).toBe(100);
    expect(unseen({ limit: 100, answers: 3 }, after(2_000))).toBe(300);
    expect(unseen({}, after(3_600_000))).toBe(4096);
  });

  test("costs the same whether the model thinks or not", () => {
    expect(unseen({ reasons: false, amount: "off" }, after(2_000))).toBe(500);
  });
});

describe("H26: the thinking before an answer that had begun", () => {
  const begun = (waitedMs: number, reasoningSeen = false): EndedAnswer => ({
    contentSeen: true,
    reasoningSeen,
    waitedMs,
  });

  test("is the requested budget, if there is one", () => {
    expect(unseen({ amount: { budget: 777 } }, begun(10))).toBe(777);
    expect(unseen({ amount: "low" }, begun(10))).toBe(2048);
    expect(unseen({ amount: "off" }, begun(10_000))).toBe(0);
  });

  test("is what its time allows, if the model decides", () => {
    expect(unseen({}, begun(1_500))).toBe(1_500);
    expect(unseen({ amount: "dynamic" }, begun(1_500))).toBe(1_500);
    expect(unseen({}, begun(3_600_000))).toBe(8192);
  });

  test("is 0 if the model does not reason, or only on request", () => {
    expect(unseen({ reasons: false }, begun(1_500))).toBe(0);
    for (const via of ["messages", "converse"] as const) {
      expect(unseen({ via }, begun(1_500))).toBe(0);
      expect(unseen({ via, amount: "dynamic" }, begun(1_500))).toBe(1_500);
    }
    expect(unseen({ via: "genai" }, begun(1_500))).toBe(1_500);
  });

  test("was seen already where the host shows thoughts as they are, and may have been more where it shows a summary", () => {
    expect(unseen({ amount: { budget: 777 } }, begun(10, true))).toBe(0);
    expect(unseen({ via: "genai", amount: { budget: 777 } }, begun(10, true))).toBe(777);
  });
});
