import { describe, expect, test } from "bun:test";
import { scriptedGateway } from "../../../testing/scripted-gateway.ts";
import { type ErrorKind, GatewayError } from "../../canon/error.ts";
import { DEFAULT_GATEWAY_ROUTING } from "../../canon/routing-settings.ts";
import { type CallRouting, DEFAULT_ROUTING, RoutingDefaults } from "../../routing/call-routing.ts";
import type { Target } from "../../routing/target.ts";
import type { Gateway } from "../gateway.ts";
import type { AttemptedCall, OfferAttempt } from "./attempted-call.ts";
import { tryOffers } from "./try-offers.ts";

/** Tries two offers of which every attempt fails like this. */
async function tried(
  kind: ErrorKind,
  mayRepeat?: (error: GatewayError) => boolean,
  routing?: Partial<CallRouting>,
  chance = 0,
  credentials: readonly string[] = [""],
  snapshot: Partial<Gateway["snapshot"]> = {},
) {
  const { gateway: made, clock, targets } = scriptedGateway();
  const random = { ...made.random, bytes: () => new Uint8Array([chance]) };
  const gateway = { ...made, random, snapshot: { ...made.snapshot, ...snapshot } };
  const call: AttemptedCall<OfferAttempt> = {
    offersTried: [],
    startedAtMs: clock.nowMs(),
    routing: { ...DEFAULT_ROUTING, ...routing },
    attempt: undefined,
    client: { disconnected: false, disconnection: new Promise(() => {}) },
  };
  const closed: string[] = [];
  const begin = ({ offer, credential }: Target): OfferAttempt => ({
    target: undefined,
    lane: { name: "native" },
    notes: [],
    terms: [],
    msSoFar: 5,
    close: () => void closed.push(offer.provider + credential),
  });
  const fail = () => Promise.reject(new GatewayError(kind, "it failed", { failure: { status: 599 } }));
  const plan = targets.flatMap((target) => credentials.map((credential) => ({ ...target, credential })));
  const outcome = tryOffers(call, gateway, plan, begin, fail, mayRepeat);
  outcome.catch(() => {});
  const thrown = await clock.until(outcome.catch((error: unknown) => error));
  return { thrown, closed, tried: call.offersTried, passedMs: clock.passedMs };
}

describe("choices 4: where everything fails", () => {
  test("each offer is tried twice, and each attempt is ended and recorded", async () => {
    const { thrown, closed, tried: offersTried, passedMs } = await tried("upstream_failed");
    expect(thrown).toBeInstanceOf(GatewayError);
    expect(closed).toEqual(["one", "one", "two", "two"]);
    expect(offersTried[0]).toEqual({
      provider: "one",
      outcome: "failed",
      reason: "upstream_failed",
      ms: 5,
      failure: { provider: "one", host: "one.test", status: 599 },
    });
    // The least of both pauses, by the randomness of the test: half of 200 ms and half of 400 ms.
    expect(passedMs).toBe(300);
  });

  test("pauses are by chance between half and whole, and double", async () => {
    const most = await tried("overloaded", undefined, {}, 0xff);
    expect(most.passedMs).toBe(600);
  });

  test("max_attempts bounds the requests that leave for a call (H32)", async () => {
    for (const [maxAttempts, asked] of [
      [1, ["one"]],
      [2, ["one", "one"]],
      [3, ["one", "one", "two"]],
      [9, ["one", "one", "two", "two"]],
    ] as const)
      expect((await tried("upstream_failed", undefined, { maxAttempts })).closed).toEqual([...asked]);
  });

  test("choices 8: a failure of one credential leaves the provider's others; one of the host's does not", async () => {
    const asked = async (kind: ErrorKind) => (await tried(kind, undefined, {}, 0, ["1", "2"])).closed.join(" ");
    expect(await asked("upstream_credentials")).toBe("one1 one2 two1 two2");
    expect(await asked("rate_limited")).toBe("one1 one2 two1 two2");
    expect(await asked("upstream_failed")).toBe("one1 one1 two1 two1");
    expect(await asked("upstream_timeout")).toBe("one1 two1");
    expect(await asked("overloaded")).toBe("one1 one1 two1 two1");
    // Where requests at one time are limited, it is the same.
    const limited = { routing: new RoutingDefaults({ ...DEFAULT_GATEWAY_ROUTING, maxConcurrent: 9 }) };
    const { closed } = await tried("upstream_timeout", undefined, {}, 0, ["1", "2"], limited);
    expect(closed).toEqual(["one1", "two1"]);
  });

  test("no pause starts that would outlast the deadline: the next offer is tried at once", async () => {
    const { closed, passedMs } = await tried("upstream_failed", undefined, { deadlineMs: 100 });
    expect([closed, passedMs]).toEqual([["one", "two"], 0]);
  });

  test("no offer is tried after the deadline", async () => {
    const { closed, thrown } = await tried("upstream_failed", undefined, { deadlineMs: 0 });
    expect(closed).toEqual([]);
    expect(thrown).toMatchObject({ kind: "upstream_timeout", message: expect.stringContaining("deadline of 0 ms") });
  });

  test("no offer is tried again if that would do the same work twice (H32)", async () => {
    expect((await tried("upstream_failed", () => false)).closed).toEqual(["one"]);
    expect((await tried("upstream_failed", () => true)).closed).toEqual(["one", "one", "two", "two"]);
  });

  test("nor where it is the client's own mistake", async () => {
    expect((await tried("invalid_request")).closed).toEqual(["one"]);
  });
});
