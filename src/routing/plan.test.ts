import { describe, expect, test } from "bun:test";
import type { Preference } from "../canon/preference.ts";
import type { TargetHealth } from "./health/target-health.ts";
import { NOW_MS, type SampleOffer, sampleCandidates, samplePlanContext } from "./plan.sample.ts";
import { type PlanContext, type Planned, type PlanRequest, plan } from "./plan.ts";
import type { Target } from "./target.ts";

type Row = readonly [provider: string, why: string];

/** `provider why`, one line for each place; a credential in brackets. */
const rows = (planned: readonly Planned<Target>[]): Row[] =>
  planned.map(({ target: { offer, credential }, why }) => [
    credential === "" ? offer.provider : `${offer.provider}(${credential})`,
    why,
  ]);

function planned(
  offers: readonly SampleOffer[],
  preference: Preference,
  context: PlanContext = samplePlanContext(),
  asked: Partial<PlanRequest<Target>> = {},
): Row[] {
  return rows(plan({ candidates: sampleCandidates(offers), preference, ...asked }, context));
}

const names = (planned: readonly Row[]): string => planned.map(([provider]) => provider).join(" ");

const OFFERS: SampleOffer[] = [
  { provider: "east", price: [1.25, 10], quality: 7 },
  { provider: "west", price: [0.029, 0.4], quality: 9 },
  { provider: "north", price: [1, 5], quality: 8 },
];
const MEASURED: Record<string, Partial<TargetHealth>> = {
  east: { firstContentMs: 611.6, tokensPerSecond: 40 },
  west: { firstContentMs: 412.2, tokensPerSecond: 85.4 },
  north: { firstContentMs: 300, tokensPerSecond: 60 },
};

describe("choices 6: each strategy and factor with measurements and reasons", () => {
  const table: [name: string, preference: Preference, expected: Row[]][] = [
    [
      "nothing preferred",
      {},
      [
        ["east", "first in catalogue order"],
        ["west", "next in catalogue order"],
        ["north", "next in catalogue order"],
      ],
    ],
    [
      "priority, cost",
      { type: "priority", primaryFactor: "cost" },
      [
        ["west", "cheapest: $0.029 + $0.40 per million tokens"],
        ["north", "next by cost: $1.00 + $5.00 per million tokens"],
        ["east", "next by cost: $1.25 + $10.00 per million tokens"],
      ],
    ],
    [
      "priority, speed",
      { primaryFactor: "speed" },
      [
        ["west", "fastest: 85 tokens per second"],
        ["north", "next by speed: 60 tokens per second"],
        ["east", "next by speed: 40 tokens per second"],
      ],
    ],
    [
      "priority, quality",
      { primaryFactor: "quality" },
      [
        ["west", "highest quality: 9 of 10 in the catalogue"],
        ["north", "next by quality: 8 of 10 in the catalogue"],
        ["east", "next by quality: 7 of 10 in the catalogue"],
      ],
    ],
    [
      "a list of providers, which restricts and orders whatever the factor says",
      { type: "priority", primaryFactor: "cost", providers: ["north", "nowhere", "east"] },
      [
        ["north", "first of the requested providers"],
        ["east", "number 3 of the requested providers"],
      ],
    ],
    [
      "round robin",
      { type: "round_robin" },
      [
        ["west", "its turn"],
        ["north", "next in turn"],
        ["east", "next in turn"],
      ],
    ],
    [
      "round robin, cost: the others by the factor",
      { type: "round_robin", primaryFactor: "cost" },
      [
        ["west", "its turn"],
        ["north", "next by cost: $1.00 + $5.00 per million tokens"],
        ["east", "next by cost: $1.25 + $10.00 per million tokens"],
      ],
    ],
    [
      "round robin, speed",
      { type: "round_robin", primaryFactor: "speed" },
      [
        ["west", "its turn"],
        ["north", "next by speed: 60 tokens per second"],
        ["east", "next by speed: 40 tokens per second"],
      ],
    ],
    [
      "round robin, quality",
      { type: "round_robin", primaryFactor: "quality" },
      [
        ["west", "its turn"],
        ["north", "next by quality: 8 of 10 in the catalogue"],
        ["east", "next by quality: 7 of 10 in the catalogue"],
      ],
    ],
    [
      "round robin among listed providers",
      { type: "round_robin", providers: ["north", "east"] },
      [
        ["east", "its turn"],
        ["north", "next in turn"],
      ],
    ],
    ...([undefined, "cost", "speed", "quality"] as const).map((primaryFactor): [string, Preference, Row[]] => [
      `least latency, ${primaryFactor ?? "no factor"}`,
      { type: "least_latency", primaryFactor },
      [
        ["north", "fastest to first content: 300 ms"],
        ["west", "next by latency: 412 ms"],
        ["east", "next by latency: 612 ms"],
      ],
    ]),
    [
      "least latency among listed providers",
      { type: "least_latency", providers: ["east", "west"] },
      [
        ["west", "fastest to first content: 412 ms"],
        ["east", "next by latency: 612 ms"],
      ],
    ],
  ];
  test.each(table)("%s", (_, preference, expected) => {
    expect(planned(OFFERS, preference, samplePlanContext(MEASURED, { turn: 1 }))).toEqual(expected);
  });
});

describe("choices 6: cost", () => {
  test("an offer without a price is last, with that reason", () => {
    const offers = [
      { provider: "dark" },
      { provider: "dear", price: [9, 9] },
      { provider: "free", price: [0, 0] },
    ] as const;
    expect(planned(offers, { primaryFactor: "cost" })).toEqual([
      ["free", "cheapest: $0.00 + $0.00 per million tokens"],
      ["dear", "next by cost: $9.00 + $9.00 per million tokens"],
      ["dark", "price unknown"],
    ]);
  });

  test("prompt and completion count together", () => {
    const offers = [
      { provider: "a", price: [1, 10] },
      { provider: "b", price: [4, 6] },
    ] as const;
    expect(names(planned(offers, { primaryFactor: "cost" }))).toBe("b a");
  });
});

describe("choices 6: speed", () => {
  test("tokens per second first, then latency; unmeasured offers get one call in ten", () => {
    const offers = ["new", "late", "quick", "newer"].map((provider) => ({ provider }));
    const health = { late: { firstContentMs: 900 }, quick: { tokensPerSecond: 30, firstContentMs: 950 } };
    const at = (draw: number, turn = 0) =>
      planned(offers, { primaryFactor: "speed" }, samplePlanContext(health, { draw, turn }));
    expect(at(0.1)).toEqual([
      ["quick", "fastest: 30 tokens per second"],
      ["late", "next by speed: 900 ms to first content"],
      ["new", "speed not measured yet"],
      ["newer", "speed not measured yet"],
    ]);
    expect(at(0.0999)).toEqual([
      ["new", "not measured yet: its turn"],
      ["quick", "fastest: 30 tokens per second"],
      ["late", "next by speed: 900 ms to first content"],
      ["newer", "speed not measured yet"],
    ]);
    expect(names(at(0, 1))).toBe("newer quick late new");
    // No exploration here: a provider is explored for the sake of latency alone.
    expect(names(at(0.999))).toBe("quick late new newer");
  });

  test("at equal tokens per second, the lower latency is first", () => {
    const offers = [{ provider: "a" }, { provider: "b" }];
    const health = { a: { tokensPerSecond: 30, firstContentMs: 2 }, b: { tokensPerSecond: 30, firstContentMs: 1 } };
    expect(names(planned(offers, { primaryFactor: "speed" }, samplePlanContext(health)))).toBe("b a");
  });
});

describe("choices 6: quality", () => {
  test("at equal rank the wider limits count, then the catalogue's order", () => {
    const offers = [
      { provider: "a" },
      { provider: "b", contextLength: 2, maxOutputTokens: 1 },
      { provider: "c", contextLength: 2, maxOutputTokens: 2 },
      { provider: "d", contextLength: 3 },
      { provider: "e", quality: 6 },
      { provider: "f" },
    ];
    expect(names(planned(offers, { primaryFactor: "quality" }))).toBe("e d c b a f");
    expect(planned(offers, { primaryFactor: "quality" })[1]).toEqual([
      "d",
      "next by quality: 5 of 10 in the catalogue",
    ]);
  });

  test("an offer has its model's rank unless it has its own", () => {
    const candidates = sampleCandidates([{ provider: "a", quality: 3 }, { provider: "b" }], { quality: 8 });
    const [first] = plan({ candidates, preference: { primaryFactor: "quality" } }, samplePlanContext());
    expect(first?.why).toBe("highest quality: 8 of 10 in the catalogue");
  });
});

describe("choices 6: least latency", () => {
  const three = ["a", "b", "c"].map((provider) => ({ provider }));
  const measured = { a: { firstContentMs: 10 }, b: { firstContentMs: 30 }, c: { firstContentMs: 20 } };
  const at = (draw: number, health: Record<string, Partial<TargetHealth>> = measured, turn = 0) =>
    planned(three, { type: "least_latency" }, samplePlanContext(health, { draw, turn }));

  test("one call of a hundred explores one of the slower, each as often as the others", () => {
    expect(names(at(0.9899))).toBe("a c b");
    expect(at(0.991)).toEqual([
      ["c", "1% exploration"],
      ["a", "fastest to first content: 10 ms"],
      ["b", "next by latency: 30 ms"],
    ]);
    expect(names(at(0.9949))).toBe("c a b");
    expect(names(at(0.9951))).toBe("b a c");
    expect(names(at(1 - 2 ** -32))).toBe("b a c");
    const [first] = planned(
      [{ provider: "a" }, { provider: "b" }],
      { type: "least_latency", providers: ["a"] },
      samplePlanContext({}, { draw: 0.999 }),
    );
    expect(first?.[0]).toBe("a");
  });

  test("unmeasured offers get one call in ten and are last in the others", () => {
    const some = { b: { firstContentMs: 30 } };
    expect(at(0.5, some)).toEqual([
      ["b", "fastest to first content: 30 ms"],
      ["a", "latency not measured yet"],
      ["c", "latency not measured yet"],
    ]);
    expect(names(at(0.1, some))).toBe("b a c");
    expect(at(0.05, some, 7)).toEqual([
      ["c", "not measured yet: its turn"],
      ["b", "fastest to first content: 30 ms"],
      ["a", "latency not measured yet"],
    ]);
    expect(names(at(0.05, some, 8))).toBe("a b c");
  });

  test("where nothing was measured, they take turns", () => {
    expect([0, 1, 2, 3].map((turn) => at(0.5, {}, turn)[0]?.[0]).join("")).toBe("abca");
  });

  test("other measurements do not count here", () => {
    expect(names(at(0.5, { ...measured, a: { tokensPerSecond: 99 } }))).toBe("c b a");
  });
});

describe("choices 8: weights", () => {
  test("in round robin an offer has its share of the turns", () => {
    const offers = [{ provider: "a", weight: 3 }, { provider: "b" }];
    const at = (turn: number) => planned(offers, { type: "round_robin" }, samplePlanContext({}, { turn }));
    expect([0, 1, 2, 3, 4].map((turn) => at(turn)[0]?.[0]).join("")).toBe("aaaba");
    expect(at(3)).toEqual([
      ["b", "its turn, with 1 of 4 turns"],
      ["a", "next in turn"],
    ]);
  });

  test("elsewhere they decide by chance among equals, and only where there are weights", () => {
    const offers = [
      { provider: "a", weight: 1 },
      { provider: "b", weight: 3 },
    ];
    const at = (draw: number) => planned(offers, {}, samplePlanContext({}, { draw }));
    expect(at(0.24)).toEqual([
      ["a", "chosen by its weight of 1"],
      ["b", "next by weight: 3"],
    ]);
    expect(names(at(0.26))).toBe("b a");
    const equals: SampleOffer[] = [
      { provider: "cheap", price: [1, 1], weight: 0 },
      { provider: "dear", price: [5, 5], weight: 1 },
      { provider: "same", price: [4, 6], weight: 9 },
      { provider: "dearest", price: [6, 6], weight: 9 },
    ];
    const byCost = (draw: number) => names(planned(equals, { primaryFactor: "cost" }, samplePlanContext({}, { draw })));
    expect(byCost(0.05)).toBe("cheap dear same dearest");
    expect(byCost(0.15)).toBe("cheap same dear dearest");
  });

  test("an offer without a weight weighs 1 among those that have one", () => {
    const offers = [{ provider: "a", weight: 3 }, { provider: "b" }];
    const at = (draw: number) => planned(offers, {}, samplePlanContext({}, { draw }));
    expect(names(at(0.74))).toBe("a b");
    expect(at(0.76)).toEqual([
      ["b", "first in catalogue order"],
      ["a", "next by weight: 3"],
    ]);
  });

  test("weight 0 is tried after all others", () => {
    const offers = [{ provider: "spare", weight: 0 }, { provider: "a" }, { provider: "b" }];
    expect(names(planned(offers, { type: "round_robin" }, samplePlanContext({}, { turn: 5 })))).toMatch(/spare$/);
    expect(names(planned(offers, {}, samplePlanContext({}, { draw: 0.1 })))).toMatch(/spare$/);
  });
});

describe("choices 8: resting targets are last, and not left out", () => {
  test("an open breaker; a pause that the provider asks for, by its end", () => {
    const health: Record<string, Partial<TargetHealth>> = {
      east: { state: "open" },
      west: { quietUntilMs: NOW_MS + 12_400 },
      south: { quietUntilMs: NOW_MS + 900 },
      past: { quietUntilMs: NOW_MS },
    };
    const offers = [...OFFERS, { provider: "south" }, { provider: "past" }];
    expect(planned(offers, {}, samplePlanContext(health))).toEqual([
      ["north", "first in catalogue order"],
      ["past", "next in catalogue order"],
      ["south", "its provider asked for a pause of 1 s: tried last"],
      ["west", "its provider asked for a pause of 13 s: tried last"],
      ["east", "circuit breaker is open: tried last"],
    ]);
  });

  test("in every strategy, and also where nothing else is there", () => {
    const health = { east: { state: "open" as const, firstContentMs: 1, tokensPerSecond: 999 } };
    for (const type of ["priority", "round_robin", "least_latency"] as const) {
      expect(names(planned(OFFERS, { type }, samplePlanContext(health)))).toMatch(/ east$/);
      const alone = planned(OFFERS, { type, providers: ["east"] }, samplePlanContext(health));
      expect(alone).toEqual([["east", "circuit breaker is open: tried last"]]);
    }
    expect(planned([{ provider: "east" }], {}, samplePlanContext(health))).toEqual([
      ["east", "circuit breaker is open: tried last"],
    ]);
  });

  test("turns are shared among those that are there", () => {
    const offers = ["a", "b", "c"].map((provider) => ({ provider }));
    const firsts = Array.from({ length: 6 }, (_, turn) => {
      return planned(offers, { type: "round_robin" }, samplePlanContext({ b: { state: "open" } }, { turn }))[0]?.[0];
    });
    expect(firsts.join("")).toBe("acacac");
  });

  test("a half-open breaker keeps its place: the call is its probe", () => {
    expect(
      planned(OFFERS, { providers: ["west", "east"] }, samplePlanContext({ west: { state: "half_open" } })),
    ).toEqual([
      ["west", "first of the requested providers; its circuit breaker is half open, and this call is the probe"],
      ["east", "number 2 of the requested providers"],
    ]);
  });
});

describe("choices 8: several credentials of one provider", () => {
  const offers: SampleOffer[] = [
    { provider: "a", credentials: { "1": 2, "2": 1, "3": 1 } },
    { provider: "b", credentials: { "1": 1, "2": 1 } },
  ];
  const at = (draw: number, health: Record<string, Partial<TargetHealth>> = {}) =>
    planned(offers, {}, samplePlanContext(health, { draw: draw / 65_536 }));

  test("are next to each other, by weight and chance; the next offer follows all of them", () => {
    expect(at(0.1)).toEqual([
      ["a(1)", "first in catalogue order"],
      ["a(2)", "another credential of the same offer"],
      ["a(3)", "another credential of the same offer"],
      ["b(1)", "next in catalogue order"],
      ["b(2)", "another credential of the same offer"],
    ]);
    expect(names(at(0.6))).toBe("a(2) a(1) a(3) b(2) b(1)");
    expect(names(at(0.9))).toBe("a(3) a(1) a(2) b(2) b(1)");
  });

  test("a resting credential does not move the others", () => {
    expect(at(0.1, { "a 1": { state: "open" } })).toEqual([
      ["a(2)", "first in catalogue order"],
      ["a(3)", "another credential of the same offer"],
      ["b(1)", "next in catalogue order"],
      ["b(2)", "another credential of the same offer"],
      ["a(1)", "circuit breaker is open: tried last"],
    ]);
  });

  test("an offer is as fast as the fastest of its credentials that may be called", () => {
    const pair: SampleOffer[] = [{ provider: "a", credentials: { "1": 1, "2": 1, "3": 1 } }, { provider: "b" }];
    const health: Record<string, Partial<TargetHealth>> = {
      "a 1": { firstContentMs: 400, tokensPerSecond: 20 },
      "a 2": { firstContentMs: 200, tokensPerSecond: 50 },
      "a 3": { firstContentMs: 1, tokensPerSecond: 999, state: "open" },
      b: { firstContentMs: 300, tokensPerSecond: 40 },
    };
    const latency = planned(pair, { type: "least_latency" }, samplePlanContext(health));
    expect(latency.map(([, why]) => why)).toContain("fastest to first content: 200 ms");
    expect(latency.map(([, why]) => why)).toContain("next by latency: 300 ms");
    const speed = planned(pair, { primaryFactor: "speed" }, samplePlanContext(health));
    expect(speed.map(([, why]) => why)).toContain("fastest: 50 tokens per second");
    const second = {
      ...health,
      "a 1": { firstContentMs: 200, tokensPerSecond: 50 },
      "a 2": { firstContentMs: 400, tokensPerSecond: 20 },
    };
    expect(planned(pair, { type: "least_latency" }, samplePlanContext(second)).map(([, why]) => why)).toContain(
      "fastest to first content: 200 ms",
    );
    expect(planned(pair, { primaryFactor: "speed" }, samplePlanContext(second)).map(([, why]) => why)).toContain(
      "fastest: 50 tokens per second",
    );
    const slower = { ...health, "a 2": { firstContentMs: 500, tokensPerSecond: 10 } };
    const [first] = planned(pair, { type: "least_latency" }, samplePlanContext(slower));
    expect(first).toEqual(["b", "fastest to first content: 300 ms"]);
  });

  test("only that credential is the probe of a half-open breaker", () => {
    const whys = at(0.1, { "a 2": { state: "half_open" } }).map(([, why]) => why);
    expect(whys.slice(0, 2)).toEqual([
      "first in catalogue order",
      "another credential of the same offer; its circuit breaker is half open, and this call is the probe",
    ]);
  });
});

describe("choices 6: fallback", () => {
  test("true: the remaining offers; false: only the first offer, with all of its credentials", () => {
    expect(names(planned(OFFERS, { fallback: "all" }))).toBe("east west north");
    expect(names(planned(OFFERS, { fallback: "none" }))).toBe("east");
    expect(names(planned(OFFERS, { fallback: "none", primaryFactor: "cost" }))).toBe("west");
    const offers: SampleOffer[] = [{ provider: "a", credentials: { "1": 1, "2": 1 } }, { provider: "b" }];
    const health = { "a 1": { state: "open" as const }, b: { state: "open" as const } };
    expect(names(planned(offers, { fallback: "none" }, samplePlanContext(health)))).toBe("a(2) a(1)");
  });

  test("false, and all are resting: the one that returns first", () => {
    const health = {
      east: { state: "open" as const },
      west: { quietUntilMs: NOW_MS + 5 },
      north: { quietUntilMs: NOW_MS + 4 },
    };
    expect(names(planned(OFFERS, { fallback: "none" }, samplePlanContext(health)))).toBe("north");
  });

  test("a provider: its offers are last, whether or not it is requested", () => {
    expect(planned(OFFERS, { fallback: { provider: "east" } })).toEqual([
      ["west", "first in catalogue order"],
      ["north", "next in catalogue order"],
      ["east", "the named fallback"],
    ]);
    expect(names(planned(OFFERS, { providers: ["west"], fallback: { provider: "east" } }))).toBe("west east");
    expect(names(planned(OFFERS, { providers: ["west", "east"], fallback: { provider: "west" } }))).toBe("east west");
  });

  test("the only provider in the plan is simply called", () => {
    const preference: Preference = { providers: ["west"], fallback: { provider: "west" } };
    expect(planned(OFFERS, preference)).toEqual([["west", "first of the requested providers"]]);
  });

  test("a resting fallback follows the other resting targets", () => {
    const health = { west: { quietUntilMs: NOW_MS + 5_000 }, north: { state: "open" as const } };
    const preference: Preference = { providers: ["west", "east"], fallback: { provider: "north" } };
    expect(planned(OFFERS, preference, samplePlanContext(health))).toEqual([
      ["east", "number 2 of the requested providers"],
      ["west", "its provider asked for a pause of 5 s: tried last"],
      ["north", "circuit breaker is open: tried last"],
    ]);
  });

  test("a model: its offers follow all of the model's own and precede resting targets", () => {
    const candidates = sampleCandidates([{ provider: "x" }, { provider: "y" }], { id: "acme/other" });
    const fallback = { candidates, why: "the named fallback: acme/other" };
    const health = { east: { state: "open" as const }, y: { quietUntilMs: NOW_MS + 1 } };
    expect(planned(OFFERS, { providers: ["east", "west"] }, samplePlanContext(health), { fallback })).toEqual([
      ["west", "number 2 of the requested providers"],
      ["x", "the named fallback: acme/other"],
      ["y", "its provider asked for a pause of 1 s: tried last"],
      ["east", "circuit breaker is open: tried last"],
    ]);
  });
});

describe("H18, choices 6: names that do not serve the model are rejected with those that do", () => {
  const refusal = (preference: Preference): unknown => {
    try {
      return planned([...OFFERS, { provider: "east" }], preference);
    } catch (error) {
      return error;
    }
  };

  test("providers", () => {
    expect(refusal({ providers: ["south"] })).toMatchObject({
      kind: "invalid_request",
      path: "provider.providers",
      message: "The provider south does not offer acme/model. Providers that do: east, west, north.",
    });
    expect(refusal({ providers: ["south", "mars", "south"] })).toMatchObject({
      message: "None of the providers south, mars offers acme/model. Providers that do: east, west, north.",
    });
  });

  test("fallback", () => {
    expect(refusal({ fallback: { provider: "mars" } })).toMatchObject({
      kind: "invalid_request",
      path: "provider.fallback",
      message: "The provider mars does not offer acme/model. Providers that do: east, west, north.",
    });
  });

  test("a provider that is listed twice has one place", () => {
    expect(names(planned(OFFERS, { providers: ["west", "east", "west"] }))).toBe("west east");
  });
});

describe("prompt-cache stickiness", () => {
  const held = (provider: string) => samplePlanContext({}, { held: `acme/model ${provider}` });

  test("a conversation goes first where its cache is, in every strategy", () => {
    expect(planned(OFFERS, {}, held("north"))).toEqual([
      ["north", "holds this conversation's prompt cache"],
      ["east", "first in catalogue order"],
      ["west", "next in catalogue order"],
    ]);
    expect(names(planned(OFFERS, { type: "round_robin" }, held("west")))).toBe("west east north");
    expect(names(planned(OFFERS, { primaryFactor: "cost" }, held("east")))).toBe("east west north");
    expect(names(planned(OFFERS, { type: "round_robin", providers: ["east", "west"] }, held("west")))).toBe(
      "west east",
    );
  });

  test("unless it is turned off, the caller sets an order, or the target may not be called", () => {
    expect(names(planned(OFFERS, { sticky: false }, held("north")))).toBe("east west north");
    expect(names(planned(OFFERS, { sticky: true }, held("north")))).toBe("north east west");
    expect(names(planned(OFFERS, { providers: ["east", "north"] }, held("north")))).toBe("east north");
    expect(names(planned(OFFERS, { type: "least_latency", providers: ["east"] }, held("north")))).toBe("east");
    const open = { ...held("north"), ...samplePlanContext({ north: { state: "open" } }), held: "acme/model north" };
    expect(names(planned(OFFERS, {}, open))).toBe("east west north");
  });

  test("a cache belongs to one credential, which precedes the offer's others", () => {
    const offers: SampleOffer[] = [{ provider: "a" }, { provider: "b", credentials: { "1": 9, "2": 1 } }];
    const context = samplePlanContext({}, { held: "acme/model b 2", draw: 0 });
    expect(planned(offers, {}, context)).toEqual([
      ["b(2)", "holds this conversation's prompt cache"],
      ["b(1)", "another credential of the same offer"],
      ["a", "first in catalogue order"],
    ]);
  });

  test("without fallback it is the one that is tried", () => {
    expect(names(planned(OFFERS, { fallback: "none" }, held("north")))).toBe("north");
  });
});

describe("reasons", () => {
  test("one offer is the only one", () => {
    expect(planned([{ provider: "a" }], { type: "least_latency" })).toEqual([["a", "the only offer"]]);
    expect(planned([{ provider: "a" }], { providers: ["a"] })).toEqual([["a", "the only offer"]]);
  });

  test("the first reason includes why the model was chosen", () => {
    const [first, second] = planned(OFFERS, {}, samplePlanContext(), { modelWhy: "chosen for its price" });
    expect(first).toEqual(["east", "chosen for its price; first in catalogue order"]);
    expect(second).toEqual(["west", "next in catalogue order"]);
  });
});
