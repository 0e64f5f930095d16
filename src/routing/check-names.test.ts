import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import { type AutoChoice, NO_PREFERENCE, type Preference } from "../canon/preference.ts";
import { buildCatalogue } from "../catalogue/catalogue.ts";
import { checkNames } from "./check-names.ts";

const catalogue = buildCatalogue({
  providers: ["one", "two"].map((name) => ({ name, publishers: [] })),
  models: ["acme/large", "acme/small", "acme/secret"].map((id) => ({
    id,
    offers: ["one", "two"].map((provider) => ({ provider, model: id.slice(5) })),
  })),
  aliases: { quick: "acme/small" },
});
const large = catalogue.get("acme/large");
const NAMES = {
  catalogue,
  providers: new Map(["one", "two"].map((name) => [name, {}])),
  naming: { vendorNames: false },
  mayCall: (id: string) => {
    if (id === "acme/secret") throw new GatewayError("forbidden", "not for this key");
  },
};
const PATHS = {
  providers: "provider.providers",
  fallback: "provider.fallback",
  auto: "model_routing_config",
  survive: "trivium.survive",
  hedge: "trivium.hedge",
  deadline: "trivium.deadline_ms",
};

const check = (preference: Preference, auto?: AutoChoice) =>
  checkNames({ preference, ...(auto && { auto }) }, PATHS, large, NAMES);

function refusalOf(preference: Preference, auto?: AutoChoice) {
  try {
    check(preference, auto);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { kind: thrown.kind, path: thrown.path, message: thrown.message };
    throw thrown;
  }
  return undefined;
}

describe("choices 6, 8: names in a request", () => {
  test("names that exist pass, and nothing is copied for them", () => {
    const asked = { preference: { providers: ["two", "one"], fallback: { provider: "one" } } };
    expect(checkNames(asked, PATHS, large, NAMES)).toBe(asked);
    expect(refusalOf({ fallback: { model: "acme/small" } })).toBeUndefined();
    expect(refusalOf(NO_PREFERENCE, { availableModels: ["acme/small", "quick"], preference: "quick" })).toBeUndefined();
    expect(refusalOf(NO_PREFERENCE, { preference: "acme/large" })).toBeUndefined();
  });

  test("a fallback that is not a provider may be an alias of a model", () => {
    expect(check({ fallback: { provider: "quick" } }).preference.fallback).toEqual({ model: "quick" });
  });

  test("an unknown provider is rejected with the list of configured ones", () => {
    expect(refusalOf({ providers: ["one", "three"] })).toEqual({
      kind: "invalid_request",
      path: "provider.providers[1]",
      message:
        'provider.providers[1] is "three", which is not a configured provider; configured providers are one, two.',
    });
    expect(refusalOf({ fallback: { provider: "three" } })).toEqual({
      kind: "invalid_request",
      path: "provider.fallback",
      message:
        'provider.fallback is "three", which is not a configured provider or model; configured providers are one, two.',
    });
  });

  test("an unknown model is rejected with suggestions", () => {
    const refused = refusalOf({ fallback: { model: "acme/smal" } });
    expect(refused).toMatchObject({ kind: "invalid_request", path: "provider.fallback" });
    expect(refused?.message).toContain("Did you mean acme/small?");
    const listed = refusalOf(NO_PREFERENCE, { availableModels: ["acme/small", "acme/larg"] });
    expect(listed).toMatchObject({ kind: "invalid_request", path: "model_routing_config.available_models[1]" });
    expect(listed?.message).toContain("Did you mean acme/large?");
  });

  test("a fallback to oneself is rejected", () => {
    const message =
      "provider.fallback is acme/large, the requested model itself; use another model or a provider, or leave it out.";
    expect(refusalOf({ fallback: { model: "acme/large" } })).toMatchObject({ path: "provider.fallback", message });
  });

  test("S05: a fallback to a model that the key may not call is rejected", () => {
    expect(refusalOf({ fallback: { model: "acme/secret" } })).toMatchObject({ kind: "forbidden" });
  });

  test("a preference is a word, or one of the models", () => {
    for (const preference of ["balanced", "performance", "price"]) {
      expect(refusalOf(NO_PREFERENCE, { preference })).toBeUndefined();
    }
    const other = refusalOf(NO_PREFERENCE, { availableModels: ["acme/small"], preference: "acme/large" });
    expect(other?.path).toBe("model_routing_config.preference");
    expect(other?.message).toContain("must be one of balanced, performance, price, or acme/small.");
    expect(refusalOf(NO_PREFERENCE, { preference: "cheapest" })?.message).toContain("balanced, performance, price");
  });
});
