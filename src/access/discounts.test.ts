import { describe, expect, test } from "bun:test";
import { Discounts, readDiscountFlag, readDiscounts } from "./discounts.ts";

describe("the discounts of a project", () => {
  test("the most specific one applies, the first among equals, and they do not add up", () => {
    const discounts = new Discounts(
      readDiscounts([
        { basis_points: 500 },
        { provider: "openai", basis_points: 1500 },
        { model: "anthropic/*", basis_points: 2000 },
        { model: "anthropic/claude-*", basis_points: 9000 },
        { model: "anthropic/*", provider: "bedrock", basis_points: 2500 },
      ]),
    );
    expect(discounts.of("google/gemini", "vertex")).toBe(500);
    expect(discounts.of("openai/gpt", "openai")).toBe(1500);
    expect(discounts.of("anthropic/claude-opus", "claude")).toBe(2000);
    expect(discounts.of("anthropic/claude-opus", "bedrock")).toBe(2500);
    expect(discounts.of("anthropic/claude-opus", "openai")).toBe(2000);
    expect(new Discounts([]).of("a/b", "c")).toBe(0);
  });

  test.each([
    [{}, "discounts must be a list"],
    [[1], "discounts[0] must be an object"],
    [[{}], "discounts[0].basis_points must be a whole number from 1 to 10000"],
    [[{ basis_points: 0 }], "discounts[0].basis_points"],
    [[{ basis_points: -5 }], "discounts[0].basis_points"],
    [[{ basis_points: 10_001 }], "discounts[0].basis_points"],
    [[{ basis_points: 12.5 }], "discounts[0].basis_points"],
    [[{ basis_points: 1 }, { basis_points: 1, models: "a" }], "discounts[1].models is unknown"],
    [[{ basis_points: 1, model: "" }], "discounts[0].model must be a pattern"],
    [[{ basis_points: 1, provider: 7 }], "discounts[0].provider must be the name"],
  ])("bad input: %j is rejected with its path", (value, message) => {
    expect(() => readDiscounts(value)).toThrow(message);
  });

  test("on the command line", () => {
    expect(readDiscountFlag("10%")).toEqual({ basis_points: 1000 });
    expect(readDiscountFlag("openai=12.25%")).toEqual({ provider: "openai", basis_points: 1225 });
    expect(readDiscountFlag("anthropic/*=100%")).toEqual({ model: "anthropic/*", basis_points: 10_000 });
    for (const wrong of ["10", "0%", "101%", "-5%", "a=b", "=5%", "1.234%"]) {
      expect(() => readDiscountFlag(wrong)).toThrow("must look like 10%");
    }
  });
});
