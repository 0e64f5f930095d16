import { describe, expect, test } from "bun:test";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { decodeUsage } from "./usage.ts";

const pass = (type: string, input_tokens: number, output_tokens: number, model?: string) =>
  withoutAbsent({
    type,
    input_tokens,
    output_tokens,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    model,
  });

const read = (input_tokens: number, output_tokens: number, ...iterations: object[]) =>
  decodeUsage({ input_tokens, output_tokens, iterations });

describe("H33: passes that the host runs itself are only in its iterations", () => {
  test("a compaction is a separate pass", () => {
    expect(read(10, 5, pass("compaction", 180_000, 3_500), pass("message", 10, 5))).toMatchObject({
      input: 10,
      output: 5,
      passes: [{ kind: "compaction", usage: { input: 180_000, output: 3_500 } }],
    });
  });

  test("an advisor pass names another model, and the turns of the response are counted", () => {
    const usage = read(
      2390,
      121,
      pass("message", 1128, 110),
      pass("advisor_message", 2518, 22, "big-model"),
      pass("message", 1262, 11),
    );
    expect(usage).toMatchObject({
      input: 2390,
      output: 121,
      rounds: 2,
      passes: [{ kind: "advisor_message", model: "big-model", usage: { input: 2518, output: 22 } }],
    });
    expect(usage?.unknown).toBeUndefined();
  });

  test("a response in one turn adds nothing", () => {
    const plain = decodeUsage({ input_tokens: 10, output_tokens: 5 });
    expect(read(10, 5, pass("message", 10, 5))).toEqual(plain);
    expect(decodeUsage({ input_tokens: 10, output_tokens: 5, iterations: null })).toEqual(plain);
    expect(decodeUsage({ input_tokens: 10, output_tokens: 5, iterations: ["odd", null] })).toEqual(plain);
  });

  test("a fallback that answered is billed, the model that declined is not", () => {
    const usage = read(300, 40, pass("message", 100, 0, "first"), pass("fallback_message", 200, 40, "second"));
    expect(usage).toMatchObject({ input: 200, output: 40, servedBy: "second" });
    expect(usage?.passes).toBeUndefined();
  });

  test("turns of the fallback before its last belong to it", () => {
    const usage = read(
      600,
      50,
      pass("message", 100, 3, "first"),
      pass("message", 200, 7, "second"),
      pass("fallback_message", 300, 40, "second"),
    );
    expect(usage).toMatchObject({ input: 500, output: 47, rounds: 2, servedBy: "second" });
  });

  test("an unknown kind is billed and named", () => {
    expect(read(10, 5, pass("message", 10, 5), pass("dream", 70, 8), pass("<b>", 1, 1))).toMatchObject({
      passes: [
        { kind: "dream", usage: { input: 70, output: 8 } },
        { kind: "<b>", usage: { input: 1, output: 1 } },
      ],
      unknown: ["usage.iterations.dream", "usage.iterations.other"],
    });
  });

  test("the number of passes is limited, what they bill is not", () => {
    const passes = read(1, 1, ...Array.from({ length: 100 }, () => pass("compaction", 10, 1)))?.passes ?? [];
    expect(passes).toHaveLength(32);
    expect(passes.reduce((sum, { usage }) => sum + (usage.input ?? 0), 0)).toBe(1000);
  });
});
