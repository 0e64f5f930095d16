import { expect, test } from "bun:test";
import type { ProviderHealth } from "../api/types.ts";
import { byTrouble, healthyOf, providerState, stateOf } from "./provider-state.ts";

type Credential = ProviderHealth["credentials"][number];
const seen = { since: null, until: null, last_error: null, last_success_at: null };
const measured = (calls: number, failures: number) => ({
  calls,
  failures,
  first_content_ms: { p50: null, p95: null },
  tokens_per_second: null,
});
const credential = (state: Credential["state"], quietMs = 0): Credential => ({
  label: null,
  weight: 1,
  state,
  ...seen,
  measured: null,
  models: state === null ? [] : [{ ...MODEL, state, quiet_ms: quietMs }],
});
const MODEL = {
  model: "m",
  first_content_ms: null,
  p95_first_content_ms: null,
  tokens_per_second: null,
  ...seen,
  limits: [],
};
const provider = (name: string, state: ProviderHealth["state"], credentials: Credential[], failures = 0) => ({
  provider: name,
  kind: "openai",
  host: null,
  models_served: 1,
  traits: null,
  state,
  ...seen,
  measured: failures === 0 ? null : measured(10, failures),
  credentials,
});

test("a provider is degraded while one of its credentials or models is out of use or asks for a pause", () => {
  expect(providerState(provider("a", "closed", [credential("closed")])).name).toBe("healthy");
  expect(providerState(provider("a", "closed", [credential("closed"), credential("open")])).name).toBe("degraded");
  expect(providerState(provider("a", "closed", [credential("closed", 2_000)])).name).toBe("degraded");
  expect(providerState(provider("a", "open", [credential("open")]))).toEqual({ kind: "bad", name: "unavailable" });
  expect(providerState(provider("a", null, [credential(null)]))).toEqual({ kind: "idle", name: "not called yet" });
  expect(stateOf("open", 2_000)).toEqual({ kind: "warn", name: "paused for 2.00 s" });
});

test("failing providers come first, then those with the largest share of failures", () => {
  const all = [
    provider("idle", null, []),
    provider("good", "closed", [credential("closed")]),
    provider("failing", "closed", [credential("closed")], 4),
    provider("down", "open", [credential("open")]),
    provider("half", "closed", [credential("open"), credential("closed")]),
  ];
  expect(all.toSorted(byTrouble).map((one) => one.provider)).toEqual(["down", "half", "failing", "good", "idle"]);
  expect(healthyOf(provider("half", "closed", [credential("open"), credential(null)]))).toBe(1);
});
