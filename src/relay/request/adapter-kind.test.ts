import { describe, expect, test } from "bun:test";
import { type AdaptedRequest, adapterCall, type EstimatedUse } from "./adapter-kind.ts";

const kind = (use: (fitted: EstimatedUse) => EstimatedUse) =>
  adapterCall<never, string, never, EstimatedUse>({
    verb: "images",
    waits: true,
    read: () => Promise.reject(new Error("not read here")),
    targets: () => [],
    fit: () => ({ costNanoUsd: 0, tokens: 0 }),
    estimate: () => (_target, fitted) => use(fitted),
  });

const target = (provider: string) => ({ model: { id: "test/model" }, offer: { provider } });

/** The request, with what it may use at each provider of its plan. */
const planned = (uses: Record<string, EstimatedUse>) =>
  ({
    served: { model: { id: "test/model" } },
    request: "",
    fits: Object.entries(uses).map(([name, fitted]) => ({ target: target(name), fitted })),
  }) as unknown as AdaptedRequest<string, never, EstimatedUse>;

const caller = (discounts: Record<string, number> = {}, limits: object = { tokensPerMinute: 1 }) =>
  ({
    incoming: { dialect: { name: "chat" } },
    principal: { levels: [{ limits }], discounts: { of: (_model: string, at: string) => discounts[at] ?? 0 } },
  }) as never;

describe("H23: the reservation for images, videos and services", () => {
  const { estimate } = kind((use) => use);

  test("is the cost of the most expensive target of the plan, after its discount", () => {
    const request = planned({ cheap: { costNanoUsd: 700, tokens: 9 }, dear: { costNanoUsd: 1000, tokens: 5 } });
    const most = { model: "test/model", dialect: "chat", estimatedTokens: 9 };
    expect(estimate(request, caller(), [])).toMatchObject({ ...most, estimatedCostNanoUsd: 1000 });
    expect(estimate(request, caller({ dear: 5000 }), [])).toMatchObject({
      ...most,
      estimatedCostNanoUsd: 700,
      offers: [
        { model: "test/model", provider: "cheap", estimatedCostNanoUsd: 700, estimatedTokens: 9 },
        { model: "test/model", provider: "dear", estimatedCostNanoUsd: 500, estimatedTokens: 5 },
      ],
    });
  });

  test("covers the rounding of each of several bills", () => {
    const request = planned({ one: { costNanoUsd: 3, bills: 4, tokens: 0 } });
    expect(estimate(request, caller({ one: 5000 }), []).estimatedCostNanoUsd).toBe(8);
  });

  test("is not computed for a key without a limit on tokens or money", () => {
    const unused = kind(() => {
      throw new Error("computed");
    });
    const request = planned({ one: { costNanoUsd: 3, tokens: 1 } });
    expect(unused.estimate(request, caller({}, {}), [])).toMatchObject({ estimatedCostNanoUsd: 0, estimatedTokens: 0 });
  });
});
