import { describe, expect, test } from "bun:test";
import { NO_PREFERENCE } from "../canon/preference.ts";
import { DEFAULT_GATEWAY_ROUTING, type GatewayRouting } from "../canon/routing-settings.ts";
import { RoutingDefaults } from "./call-routing.ts";

describe("choices 8: call over key over gateway, member by member", () => {
  const gateway: GatewayRouting = {
    ...DEFAULT_GATEWAY_ROUTING,
    calls: { preference: { type: "round_robin", fallback: "none" }, survive: true, deadlineMs: 9_000 },
  };
  const defaults = new RoutingDefaults(gateway);

  test("settings of neither call nor key are the gateway's, without a new object", () => {
    expect(defaults.ofCall(undefined, undefined)).toBe(defaults.calls);
    expect(Object.isFrozen(defaults.calls)).toBeTrue();
    expect(defaults.calls).toEqual({
      preference: { type: "round_robin", fallback: "none" },
      auto: undefined,
      survive: true,
      hedge: false,
      deadlineMs: 9_000,
      maxAttempts: DEFAULT_GATEWAY_ROUTING.calls.maxAttempts,
      require: undefined,
    });
  });

  test("a gateway without settings has no preference", () => {
    expect(new RoutingDefaults().calls.preference).toBe(NO_PREFERENCE);
    expect(new RoutingDefaults().calls).toMatchObject({ survive: false, hedge: false, deadlineMs: undefined });
  });

  test("a key lies over the gateway, and is merged with it once", () => {
    const key = { preference: { fallback: "all" as const }, survive: false, maxAttempts: 2 };
    const merged = defaults.ofCall(key, undefined);
    expect(merged).toMatchObject({ preference: { type: "round_robin", fallback: "all" }, survive: false });
    expect(merged).toMatchObject({ deadlineMs: 9_000, maxAttempts: 2 });
    expect(defaults.ofCall(key, undefined)).toBe(merged);
  });

  test("a call lies over both", () => {
    const key = { preference: { type: "priority" as const }, hedge: true };
    const asked = { preference: { primaryFactor: "cost" as const }, hedge: false, deadlineMs: 100, auto: {} };
    expect(defaults.ofCall(key, asked)).toEqual({
      preference: {
        type: "priority",
        primaryFactor: "cost",
        providers: undefined,
        fallback: "none",
        sticky: undefined,
      },
      auto: {},
      survive: true,
      hedge: false,
      deadlineMs: 100,
      maxAttempts: DEFAULT_GATEWAY_ROUTING.calls.maxAttempts,
      require: undefined,
    });
  });

  test("a provider has its own breaker and limit, or those of every provider", () => {
    const own = { breaker: { ...DEFAULT_GATEWAY_ROUTING.breaker, failures: 1 }, maxConcurrent: 3 };
    const providers = new RoutingDefaults(gateway, new Map([["one", own]]));
    expect(providers.ofProvider("one")).toBe(own);
    expect(providers.ofProvider("two")).toEqual({ breaker: DEFAULT_GATEWAY_ROUTING.breaker, maxConcurrent: undefined });
  });
});
