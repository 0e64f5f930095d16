import { describe, expect, test } from "bun:test";
import { sampleCall, scriptedGateway } from "../../testing/scripted-gateway.ts";
import { GatewayError } from "../canon/error.ts";
import { ClientGoneError } from "./call.ts";
import { MemoryExhaustedError } from "./memory-budget.ts";
import { type Try, tryOffers } from "./try-offers.ts";

/** Each try of a target does what the next of these says: it answers with a text, or throws. */
function trying(outcomes: (string | Error)[], retryAtOnce = false) {
  const { gateway, clock, targets } = scriptedGateway();
  const { call, leave } = sampleCall(gateway);
  const plan = targets.filter(({ via }) => via === "chat");
  const begun: { provider: string; atMs: number; closed: boolean }[] = [];
  const begin = (target: (typeof plan)[number]): Try => {
    const attempt = { provider: target.provider.name, atMs: clock.passedMs, closed: false };
    begun.push(attempt);
    return {
      target,
      lane: { name: "native" },
      notes: [],
      terms: [],
      msSoFar: 0,
      retryAtOnce,
      close: () => {
        attempt.closed = true;
      },
    };
  };
  const use = async () => {
    const outcome = outcomes.shift();
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  const run = (mayRepeat?: (error: GatewayError) => boolean) =>
    clock.until(tryOffers(call, gateway, plan, begin, use, mayRepeat));
  return { run, begun, call, gateway, leave };
}

const failed = (extra = {}) => new GatewayError("upstream_failed", "It broke.", extra);

describe("who is tried, and when", () => {
  test("the first that answers ends it", async () => {
    const { run, begun, call } = trying(["hello"]);
    expect(await run()).toBe("hello");
    expect(begun).toEqual([{ provider: "one", atMs: 0, closed: false }]);
    expect(call.offersTried).toEqual([{ provider: "one", outcome: "answered", ms: 0 }]);
  });

  test("a failure that may pass is tried again after a pause, then the next target", async () => {
    const { run, begun, call } = trying([failed(), failed(), "hello"]);
    expect(await run()).toBe("hello");
    expect(begun).toEqual([
      { provider: "one", atMs: 0, closed: true },
      { provider: "one", atMs: 200, closed: true },
      { provider: "two", atMs: 200, closed: false },
    ]);
    expect(call.offersTried.map(({ outcome, reason }) => reason ?? outcome)).toEqual([
      "upstream_failed",
      "upstream_failed",
      "answered",
    ]);
  });

  test("a kept connection that was closed needs no pause", async () => {
    const { run, begun } = trying([failed(), "hello"], true);
    await run();
    expect(begun.map(({ atMs }) => atMs)).toEqual([0, 0]);
  });

  test("H19: a provider is waited for as long as it asks, but no longer than a call is held", async () => {
    const soon = trying([failed({ retryAfterSeconds: 2 }), "hello"]);
    await soon.run();
    expect(soon.begun.map(({ provider, atMs }) => [provider, atMs])).toEqual([
      ["one", 0],
      ["one", 2000],
    ]);
    const late = trying([failed({ retryAfterSeconds: 3 }), "hello"]);
    await late.run();
    expect(late.begun.map(({ provider, atMs }) => [provider, atMs])).toEqual([
      ["one", 0],
      ["two", 0],
    ]);
  });

  test("the last failure is told when all have failed", async () => {
    const { run, begun } = trying([failed(), failed(), failed(), new GatewayError("overloaded", "Too busy.")]);
    await expect(run()).rejects.toThrow("Too busy.");
    expect(begun.length).toBe(4);
  });

  test.each([
    ["the caller's own mistake", new GatewayError("invalid_request", "No.")],
    ["a lack of memory here", new MemoryExhaustedError("overloaded", "Full.")],
  ])("%s ends it", async (_, error) => {
    const { run, begun } = trying([error]);
    await expect(run()).rejects.toThrow(error.message);
    expect(begun.length).toBe(1);
  });

  test("nothing is repeated that might be done twice", async () => {
    const { run, begun } = trying([failed()]);
    await expect(run(() => false)).rejects.toThrow("It broke.");
    expect(begun.length).toBe(1);
  });

  test("nothing more is tried when the gateway shuts down", async () => {
    const { run, begun, gateway } = trying([failed()]);
    gateway.closing = true;
    await expect(run()).rejects.toThrow("It broke.");
    expect(begun.length).toBe(1);
  });
});

describe("a client that has left", () => {
  test("nothing is begun for it", async () => {
    const { run, begun, leave } = trying(["hello"]);
    leave();
    await expect(run()).rejects.toBeInstanceOf(ClientGoneError);
    expect(begun).toEqual([]);
  });

  test("what breaks because of that was abandoned, what failed by itself has failed", async () => {
    for (const [error, outcome] of [
      [new Error("cut"), "abandoned"],
      [failed(), "failed"],
    ] as const) {
      const { call, leave, gateway } = trying([]);
      const attempt: Try = {
        target: undefined,
        lane: { name: "native" },
        notes: [],
        terms: [],
        msSoFar: 5,
        close: () => {},
      };
      const [target] = gateway.snapshot.targets.text(call.model, call.model.offers);
      if (!target) throw new Error("no target");
      const use = async () => {
        leave();
        throw error;
      };
      await expect(tryOffers(call, gateway, [target], () => attempt, use)).rejects.toBeInstanceOf(ClientGoneError);
      expect(call.offersTried[0]).toMatchObject({ provider: "one", outcome, ms: 5 });
    }
  });
});

describe("what a call has of its attempts", () => {
  test("the record of the one that answered", async () => {
    const { run, call } = trying([failed(), failed(), "hello"]);
    await run();
    expect(call.attempt?.target?.provider.name).toBe("two");
  });

  test("S10: a failure is told without the provider's secrets", async () => {
    const { run } = trying([new GatewayError("invalid_request", "The key key-of-the-gateway is bad.")]);
    await expect(run()).rejects.toThrow("The key [secret] is bad.");
  });
});
