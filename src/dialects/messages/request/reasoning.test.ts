import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall } from "../../../canon/call.ts";
import type { Part } from "../../../canon/part.ts";
import { assistant, callOf, encode, resultOf, say, TOOL, UNLIMITED, user } from "../call.sample.ts";

describe("reasoning", () => {
  const desired = (amount: NonNullable<CanonCall["reasoning"]>["amount"], more = {}): Partial<CanonCall> => ({
    reasoning: withoutAbsent({ amount, path: "reasoning_effort", ...more }),
  });

  test.each([
    ["an effort becomes a budget", desired("medium"), { type: "enabled", budget_tokens: 8192 }, 64000, []],
    ["a budget is sent unchanged", desired({ budget: 3000 }), { type: "enabled", budget_tokens: 3000 }, 64000, []],
    [
      "a budget is at least 1024",
      desired({ budget: 10 }),
      { type: "enabled", budget_tokens: 1024 },
      64000,
      ["approximated reasoning_effort"],
    ],
    [
      "budget and answer share the client's limit",
      { ...desired("high"), maxOutputTokens: 4000 },
      { type: "enabled", budget_tokens: 2976 },
      4000,
      ["approximated reasoning_effort"],
    ],
    [
      "the client's budget stays below the limit",
      { ...desired({ budget: 5000 }), maxOutputTokens: 4000 },
      { type: "enabled", budget_tokens: 3999 },
      4000,
      ["approximated reasoning_effort"],
    ],
    ["no room: off", { ...desired("low"), maxOutputTokens: 1000 }, undefined, 1000, ["dropped reasoning_effort"]],
    [
      "not even by one token",
      { ...desired("low"), maxOutputTokens: 1024 },
      undefined,
      1024,
      ["dropped reasoning_effort"],
    ],
    [
      "just enough room",
      { ...desired("low"), maxOutputTokens: 1025 },
      { type: "enabled", budget_tokens: 1024 },
      1025,
      ["approximated reasoning_effort"],
    ],
    ["off needs no field", desired("off"), undefined, 64000, []],
    ["nothing requested, nothing sent", desired(undefined), undefined, 64000, []],
    [
      "H09: a request to show thoughts enables thinking",
      desired(undefined, { show: true }),
      { type: "enabled", budget_tokens: 8192 },
      64000,
      ["approximated reasoning_effort"],
    ],
  ])("models with budgets: %s", (_name, call, thinking, limit, notes) => {
    const result = encode(call, { reasoningForm: "budget" });
    expect(result.body["thinking"] as unknown).toEqual(thinking);
    expect(result.body["max_tokens"]).toBe(limit);
    expect(result.notes).toEqual(notes);
  });

  test("the budget is added to the output if no limit is known", () => {
    const { body } = encode(desired("low"), UNLIMITED);
    expect(body).toMatchObject({ max_tokens: 4096 + 2048, thinking: { budget_tokens: 2048 } });
  });

  test.each([
    ["an effort", desired("high"), { type: "adaptive", display: "summarized" }, "high", []],
    ["the model's own choice", desired("dynamic"), { type: "adaptive", display: "summarized" }, undefined, []],
    ["hidden", desired("low", { show: false }), { type: "adaptive", display: "omitted" }, "low", []],
    [
      "an effort it does not support",
      desired("minimal"),
      { type: "adaptive", display: "summarized" },
      "low",
      ["approximated reasoning_effort"],
    ],
    [
      "a budget, never sent as one",
      desired({ budget: 9000 }),
      { type: "adaptive", display: "summarized" },
      "medium",
      ["approximated reasoning_effort"],
    ],
    ["off is sent explicitly", desired("off"), { type: "disabled" }, undefined, []],
  ])("models with adaptive thinking: %s", (_name, call, thinking, effort, notes) => {
    const result = encode(call, { reasoningForm: "adaptive", efforts: ["off", "low", "medium", "high"] });
    expect(result.body["thinking"]).toEqual(thinking);
    expect((result.body["output_config"] as JsonObject | undefined)?.["effort"]).toBe(effort);
    expect(result.notes).toEqual(notes);
  });

  test("handles a model that does not reason and one that cannot stop", () => {
    expect(encode(desired("high"), { reasoning: false }).notes).toEqual(["dropped reasoning_effort"]);
    const always = encode(desired("off"), { reasoningForm: "adaptive", efforts: ["low", "high"] });
    expect(always.body).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "low" } });
    expect(always.notes).toEqual(["approximated reasoning_effort"]);
  });

  test("sampling settings are dropped if thinking is on", () => {
    const { body, notes } = encode({
      ...desired("low"),
      temperature: 0.3,
      topP: 0.9,
      topK: 5,
      paths: { temperature: "temperature", topP: "top_p", topK: "top_k" },
    });
    for (const key of ["temperature", "top_p", "top_k"]) expect(body[key]).toBeUndefined();
    expect(notes.toSorted()).toEqual(["dropped temperature", "dropped top_k", "dropped top_p"]);
  });

  test("a forced call takes precedence over thinking", () => {
    const forced = { ...desired("low"), tools: [TOOL], toolChoice: { type: "any" } } as const;
    const { body, notes } = encode(forced);
    expect(body["tool_choice"]).toEqual({ type: "any" });
    expect(body["thinking"]).toBeUndefined();
    expect(notes).toEqual(["dropped reasoning_effort"]);
  });

  test("a tool loop without the target's own thinking continues without thinking, which hosts with budgets would reject", () => {
    const turns = [user(say("hi")), assistant(callOf("a")), user(resultOf("a"))];
    expect(encode({ ...desired("low"), turns, tools: [TOOL] })).toMatchObject({ notes: ["dropped reasoning_effort"] });
    const signature = { origin: "messages", kind: "signature", value: "s" } as const;
    const thought: Part = { type: "reasoning", text: "hm", signature, path: "x" };
    const signed = [user(say("hi")), assistant(thought, callOf("a")), user(resultOf("a"))];
    expect(encode({ ...desired("low"), turns: signed, tools: [TOOL] }).body["thinking"]).toMatchObject({
      type: "enabled",
    });
    const over = [...turns, assistant(say("done")), user(say("next"))];
    expect(encode({ ...desired("low"), turns: over, tools: [TOOL] }).body["thinking"]).toMatchObject({
      type: "enabled",
    });
    expect(encode({ ...desired("low"), turns, tools: [TOOL] }, { reasoningForm: "adaptive" }).notes).toEqual([]);
  });
});
