import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CallFilter,
  NAMES,
  notNarrowedBy,
  readFilter,
  receiptQuery,
  replaceWord,
  unknownWords,
  unsummed,
  usageQuery,
  writeFilter,
} from "./filter.ts";

describe("console-notes 4: one filter grammar", () => {
  test("reads names, comparisons, quotes and words", () => {
    expect(
      readFilter('tag:feature=search model:sim/fast outcome:failed cost>0.01 ms>=2000 key:"my key" rcp_0a'),
    ).toEqual({
      tag: "feature=search",
      model: "sim/fast",
      outcome: "failed",
      cost: "0.01",
      ms: "2000",
      key: "my key",
      text: "rcp_0a",
    });
  });

  test("treats everything that does not look like a filter as text and drops nothing", () => {
    expect(readFilter("cafe http://x qwen3:8b req_0a")).toEqual({ text: "cafe http://x qwen3:8b req_0a" });
    expect(readFilter("request:req_0a trace:4bf9 id:rcp_1")).toEqual({ text: "req_0a 4bf9 rcp_1" });
    expect(readFilter('colour:red modle:x "mistral:latest"')).toEqual({
      unknown: "colour:red modle:x",
      text: "mistral:latest",
    });
    for (const written of ['text "mistral:latest"', "colour:red key:a", 'body:"ORDER 123" cost>much']) {
      const filter = readFilter(written);
      expect(readFilter(writeFilter(filter))).toEqual(filter);
    }
  });

  test("console-design: an unknown word has the nearest filter, if there is one", () => {
    const nearest = (written: string) => unknownWords(readFilter(written)).map((one) => [one.word, one.nearest]);
    expect(nearest("modle:x colour:red")).toEqual([
      ["modle:x", "model:x"],
      ["colour:red", undefined],
    ]);
    expect(nearest('status:failed custmer:a user:"a b" latency:2000 cost>much provder:a')).toEqual([
      ["status:failed", "outcome:failed"],
      ["custmer:a", undefined],
      ['user:"a b"', 'end_user:"a b"'],
      ["latency:2000", "ms>2000"],
      ["cost>much", undefined],
      ["provder:a", "provider:a"],
    ]);
    const filter = readFilter("key:k modle:x colour:red");
    expect(replaceWord(filter, "modle:x", "model:x")).toBe("model:x key:k colour:red");
    expect(replaceWord(filter, "colour:red", "")).toBe("key:k modle:x");
    expect(receiptQuery(filter)).toEqual({ key: "k", min_cost: undefined, min_ms: undefined });
    expect(unsummed(filter)).toEqual([]);
  });

  test("every written filter reads back unchanged", () => {
    const value = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() === text && text !== "");
    const filter = fc.record(Object.fromEntries(NAMES.map((name) => [name, value])), { requiredKeys: [] });
    fc.assert(
      fc.property(filter, (given) => {
        expect(readFilter(writeFilter(given as CallFilter))).toEqual(given as CallFilter);
      }),
    );
  });

  test("uses the parameter names of the Admin API", () => {
    expect(receiptQuery({ model: "m", cost: "1", ms: "5" })).toEqual({ model: "m", min_cost: "1", min_ms: "5" });
    expect(usageQuery({ model: "m", outcome: "failed", dialect: "chat", text: "x" })).toEqual({
      model: "m",
      provider: undefined,
      key: undefined,
      project: undefined,
      tag: undefined,
      outcome: "failed",
      dialect: "chat",
    });
  });

  test("names the filters that totals do not support", () => {
    expect(unsummed({ model: "m", outcome: "failed", lane: "native", cost: "1", text: "x" })).toEqual([
      "lane",
      "cost",
      "text",
    ]);
    expect([notNarrowedBy([]), notNarrowedBy(["lane", "cost"])]).toEqual(["", "not filtered by lane, cost"]);
  });
});
