import { describe, expect, test } from "bun:test";
import { scriptedGateway } from "../../testing/scripted-gateway.ts";
import { type ErrorKind, GatewayError } from "../canon/error.ts";
import { type Try, type Trying, tryOffers } from "./try-offers.ts";

/** Tries two offers of which every attempt fails like this. */
async function tried(kind: ErrorKind, mayRepeat?: (error: GatewayError) => boolean) {
  const { gateway, clock } = scriptedGateway();
  const call: Trying<Try> = {
    offersTried: [],
    attempt: undefined,
    client: { disconnected: false, disconnection: new Promise(() => {}) },
  };
  const closed: string[] = [];
  const plan = ["one", "two"].map((provider) => ({
    offer: { provider },
    provider: { redactError: (error: GatewayError) => error },
  }));
  const begin = ({ offer }: (typeof plan)[number]): Try => ({
    target: undefined,
    lane: { name: "native" },
    notes: [],
    terms: [],
    msSoFar: 5,
    close: () => void closed.push(offer.provider),
  });
  const fail = () => Promise.reject(new GatewayError(kind, "it failed", { failure: { status: 599 } }));
  const outcome = tryOffers(call, gateway, plan, begin, fail, mayRepeat);
  outcome.catch(() => {});
  const thrown = await clock.until(outcome.catch((error: unknown) => error));
  return { thrown, closed, tried: call.offersTried, passedMs: clock.passedMs };
}

describe("choices 4: where everything fails", () => {
  test("each offer is tried twice, each attempt is ended and recorded with what is known of it", async () => {
    const { thrown, closed, tried: offersTried, passedMs } = await tried("upstream_failed");
    expect(thrown).toBeInstanceOf(GatewayError);
    expect(closed).toEqual(["one", "one", "two", "two"]);
    expect(offersTried[0]).toEqual({
      provider: "one",
      outcome: "failed",
      reason: "upstream_failed",
      ms: 5,
      failure: { status: 599 },
    });
    expect(passedMs).toBe(400);
  });

  test("nobody is asked again where that would do the same thing twice (H32)", async () => {
    expect((await tried("upstream_failed", () => false)).closed).toEqual(["one"]);
    expect((await tried("upstream_failed", () => true)).closed).toEqual(["one", "one", "two", "two"]);
  });

  test("nor where it is the client's own mistake", async () => {
    expect((await tried("invalid_request")).closed).toEqual(["one"]);
  });
});
