import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { GatewayError } from "../canon/error.ts";
import { type SlotLimits, Slots } from "./slots.ts";

interface Given {
  overall?: number;
  perProvider?: Record<string, number>;
  maxQueue?: number;
  queueMs?: number;
}

const limitsOf = ({ overall, perProvider = {}, maxQueue = 10, queueMs = 1_000 }: Given): SlotLimits => ({
  overload: { maxConcurrent: overall, maxQueue, queueMs },
  ofProvider: (name) => ({ maxConcurrent: perProvider[name] }),
});

/** Slots with these limits, and what has become of each call that waited, in order. */
function made(given: Given) {
  const clock = new VirtualClock();
  const slots = new Slots(clock);
  const limits = limitsOf(given);
  const ends: string[] = [];
  const wait = (
    name: string,
    { keyId = "key", providers = ["a"], withinMs = Number.POSITIVE_INFINITY, isBelow = false } = {},
  ) => {
    const { promise: disconnection, resolve: disconnect } = Promise.withResolvers<void>();
    slots.wait({ keyId, providers, limits, withinMs, disconnection, isBelow }).then(
      (provider) => ends.push(provider === undefined ? `${name} left` : `${name} at ${provider}`),
      (error: unknown) => ends.push(`${name} ${error instanceof GatewayError ? error.kind : String(error)}`),
    );
    return disconnect;
  };
  const take = (provider: string, isBelow = false) => slots.take(provider, limits, isBelow);
  const settled = () => clock.pass(0);
  return { clock, slots, limits, ends, wait, take, settled };
}

describe("choices 8: requests at one time", () => {
  test("without limits every request has its slot", () => {
    const { take, slots } = made({});
    for (let index = 0; index < 1_000; index++) expect(take("a")).toBe(true);
    expect(slots.running).toBe(1_000);
  });

  test("a provider's limit applies only to it, the total limit to all", () => {
    const { take, slots } = made({ overall: 3, perProvider: { a: 2 } });
    expect([take("a"), take("a"), take("a")]).toEqual([true, true, false]);
    expect([take("b"), take("b")]).toEqual([true, false]);
    slots.free("b");
    expect(take("a")).toBe(false);
    slots.free("a");
    expect(take("a")).toBe(true);
    expect([slots.running, slots.runningAt("a"), slots.runningAt("b")]).toEqual([2, 2, 0]);
  });
});

describe("choices 12: calls that no client waits for", () => {
  test("leave a quarter of the slots free, at each provider and in total", () => {
    const { take, slots } = made({ overall: 8, perProvider: { a: 4 } });
    expect([1, 2, 3, 4].map(() => take("a", true))).toEqual([true, true, true, false]);
    expect(take("a")).toBe(true);
    expect([1, 2, 3].map(() => take("b", true))).toEqual([true, true, false]);
    slots.free("a");
    expect(take("b", true)).toBe(true);
  });

  test("may use the only slot of a provider", () => {
    const { take } = made({ perProvider: { a: 1 } });
    expect([take("a", true), take("a", true)]).toEqual([true, false]);
  });

  test("wait until no client's call waits, and take no place in its queue", async () => {
    const { take, wait, slots, ends, settled } = made({ perProvider: { a: 2 }, maxQueue: 1 });
    expect([take("a"), take("a")]).toEqual([true, true]);
    wait("line 1", { isBelow: true });
    wait("line 2", { isBelow: true });
    wait("call");
    expect(slots.queued).toBe(1);
    slots.free("a");
    await settled();
    expect(ends).toEqual(["call at a"]);
    slots.free("a");
    await settled();
    // One slot of two stays free.
    expect(ends).toEqual(["call at a"]);
    slots.free("a");
    await settled();
    expect(ends).toEqual(["call at a", "line 1 at a"]);
    expect(take("a")).toBe(true);
  });
});

describe("choices 8: the queue", () => {
  test("the first of the wanted providers that is free serves the call, in the order of coming", async () => {
    const { take, wait, slots, ends, settled } = made({ perProvider: { a: 1, b: 1 } });
    expect([take("a"), take("b")]).toEqual([true, true]);
    wait("one", { providers: ["a", "b"] });
    wait("two", { providers: ["a", "b"] });
    slots.free("b");
    await settled();
    expect(ends).toEqual(["one at b"]);
    slots.free("a");
    await settled();
    expect(ends).toEqual(["one at b", "two at a"]);
    expect([slots.queued, slots.running]).toEqual([0, 2]);
  });

  test("later calls do not overtake waiting ones, and are not delayed by those waiting elsewhere", async () => {
    const { take, wait, slots, ends, settled } = made({ perProvider: { a: 1 } });
    take("a");
    wait("one");
    expect(take("a")).toBe(false);
    expect(take("b")).toBe(true);
    slots.free("a");
    expect(take("a")).toBe(false);
    await settled();
    expect(ends).toEqual(["one at a"]);
  });

  test("keys take turns: a key with many calls does not hold up another's", async () => {
    const { take, wait, slots, ends, settled } = made({ overall: 1 });
    take("a");
    for (const name of ["m1", "m2", "m3"]) wait(name, { keyId: "many" });
    for (const name of ["f1", "f2"]) wait(name, { keyId: "few" });
    for (let index = 0; index < 5; index++) {
      slots.free("a");
      await settled();
    }
    expect(ends).toEqual(["m1", "f1", "m2", "f2", "m3"].map((name) => `${name} at a`));
  });

  test("a call that can be served is not held up by one that cannot", async () => {
    const { take, wait, slots, ends, settled } = made({ perProvider: { a: 1, b: 1 } });
    take("a");
    take("b");
    wait("one", { providers: ["a"] });
    wait("two", { providers: ["b"] });
    slots.free("b");
    await settled();
    expect(ends).toEqual(["two at b"]);
  });

  test("beyond its limit a call is rejected at once with a retry time", async () => {
    const { take, wait, slots, limits, ends, settled } = made({ overall: 1, maxQueue: 1, queueMs: 2_500 });
    take("a");
    wait("one");
    const refusal = await slots
      .wait({
        keyId: "key",
        providers: ["a", "a", "b"],
        limits,
        withinMs: 9_000,
        disconnection: new Promise(() => {}),
      })
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: "overloaded", retryAfterSeconds: 3 });
    expect(String(refusal)).toContain("concurrent requests to a, b");
    expect(String(refusal)).toContain("the queue (limit 1) is full");
    await settled();
    expect([ends, slots.queued]).toEqual([[], 1]);
  });

  test("a wait ends after its time and leaves nothing behind", async () => {
    const { clock, take, wait, slots, ends } = made({ overall: 1, queueMs: 700 });
    take("a");
    wait("one");
    wait("two", { withinMs: 300 });
    await clock.pass(299);
    expect(ends).toEqual([]);
    await clock.pass(1);
    expect(ends).toEqual(["two overloaded"]);
    await clock.pass(399);
    expect(ends).toEqual(["two overloaded"]);
    await clock.pass(1);
    expect(ends).toEqual(["two overloaded", "one overloaded"]);
    expect([slots.queued, clock.timers]).toEqual([0, 0]);
    slots.free("a");
    expect(slots.running).toBe(0);
  });

  test("H13: a client that disconnects leaves the queue, and takes no slot", async () => {
    const { clock, take, wait, slots, ends, settled } = made({ overall: 1 });
    take("a");
    const disconnect = wait("one");
    wait("two");
    disconnect();
    await settled();
    expect(ends).toEqual(["one left"]);
    slots.free("a");
    await settled();
    expect(ends).toEqual(["one left", "two at a"]);
    // One that was served already is not served again, nor taken out.
    disconnect();
    await settled();
    expect([slots.queued, slots.running, clock.timers]).toEqual([0, 1, 0]);
  });
});
