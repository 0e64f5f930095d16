import { describe, expect, test } from "bun:test";
import { mergePreferences, NO_PREFERENCE, type Preference } from "./preference.ts";

describe("preferences of call, key and gateway (choices 8)", () => {
  const under: Preference = {
    type: "round_robin",
    primaryFactor: "cost",
    providers: ["a", "b"],
    fallback: "none",
    sticky: false,
  };

  test("the lower preference applies to each member that the upper one does not set", () => {
    expect(mergePreferences({ type: "priority" }, under)).toEqual({ ...under, type: "priority" });
    expect(mergePreferences({ primaryFactor: "speed" }, under)).toEqual({ ...under, primaryFactor: "speed" });
    expect(mergePreferences({ providers: ["c"] }, under)).toEqual({ ...under, providers: ["c"] });
    expect(mergePreferences({ fallback: { provider: "c" } }, under)).toEqual({ ...under, fallback: { provider: "c" } });
    expect(mergePreferences({ sticky: true }, under)).toEqual({ ...under, sticky: true });
  });

  test("returns the same object if one of them is empty", () => {
    expect(mergePreferences(NO_PREFERENCE, under)).toBe(under);
    expect(mergePreferences(under, NO_PREFERENCE)).toBe(under);
    expect(mergePreferences(NO_PREFERENCE, NO_PREFERENCE)).toBe(NO_PREFERENCE);
  });
});
