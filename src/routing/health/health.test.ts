import { describe, expect, test } from "bun:test";
import { Secret } from "../../base/secret.ts";
import { system } from "../../base/system.ts";
import { type ErrorKind, GatewayError } from "../../canon/error.ts";
import { DEFAULT_GATEWAY_ROUTING } from "../../canon/routing-settings.ts";
import { buildCatalogue } from "../../catalogue/catalogue.ts";
import { BUILT_IN, createProvider } from "../../providers/index.ts";
import { RoutingDefaults } from "../call-routing.ts";
import type { Target } from "../target.ts";
import { Targets } from "../targets.ts";
import { Health } from "./health.ts";

const { breaker: BREAKER } = DEFAULT_GATEWAY_ROUTING;
/** Of what a byte can be: every pause has its plain length. */
const HALF = 128;

/** The targets of one host with two credentials and two models, of which one has two names. */
function targetsOf(keys: readonly string[], name = "pair"): Target[] {
  const made = keys.map((key, index) =>
    createProvider(
      {
        name,
        kind: "openai-compatible",
        baseUrl: "http://host.test/v1",
        apiKey: new Secret(key),
        dialects: ["chat", "messages"],
        credential: { index, label: String(index + 1), weight: 1 },
      },
      system,
    ),
  );
  const catalogue = buildCatalogue({
    providers: [{ name, publishers: [] }],
    models: ["large", "small", "also-large"].map((model) => ({
      id: `acme/${model}`,
      offers: [{ provider: name, model: model.replace("also-", "") }],
    })),
  });
  return [...new Targets(catalogue.list(), new Map([[name, made]]), BUILT_IN).all()];
}

function made(routing = new RoutingDefaults()) {
  let nowMs = 1_700_000_000_000;
  const clock = { ...system.clock, nowMs: () => nowMs, wallMs: () => nowMs };
  const random = { ...system.random, bytes: (length: number) => new Uint8Array(length).fill(HALF) };
  const changes: string[] = [];
  const health = new Health({ clock, random }, routing, ({ target: { id }, ofCredential, openMs }) => {
    changes.push(`${id.split(" ")[0]} ${ofCredential ? "credential" : "model"} ${openMs ?? "answers"}`);
  });
  const targets = targetsOf(["key-1", "key-2"]);
  const target = (model: string, credential = "1", via = "chat"): Target => {
    const found = targets.find(
      ({ id }) => id === `acme/${model} pair ${model.replace("also-", "")} ${via} ${credential}`,
    );
    if (found === undefined) throw new Error(`no target of ${model}`);
    return found;
  };
  const failWith = (
    of: Target,
    kind: ErrorKind,
    details: ConstructorParameters<typeof GatewayError>[2] = {},
    attempt: object = {},
  ) => health.failed(of, attempt, new GatewayError(kind, "it failed", details));
  const open = (of: Target) => {
    for (let at = 0; at < BREAKER.failures; at++) failWith(of, "upstream_failed");
  };
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { clock, advance, health, targets, target, failWith, open, changes };
}

describe("choices 8: a listener learns when a target goes out of use, and when it responds again", () => {
  test("a model that fails, once however often its probes fail", () => {
    const { health, target, open, failWith, advance, changes } = made();
    const large = target("large");
    open(large);
    failWith(large, "upstream_failed");
    expect(changes).toEqual([`acme/large model ${BREAKER.openMs}`]);
    advance(BREAKER.openMs * 2);
    const probe = {};
    health.begin(large, probe);
    failWith(large, "upstream_failed", {}, probe);
    expect(changes).toHaveLength(1);
    advance(BREAKER.openMs * 4);
    health.begin(large, {});
    health.answered(large, 10, undefined);
    health.answered(large, 10, undefined);
    expect(changes.slice(1)).toEqual(["acme/large model answers"]);
  });

  test("a credential that is rejected", () => {
    const { health, target, failWith, advance, changes } = made();
    failWith(target("large"), "upstream_credentials");
    failWith(target("small"), "upstream_credentials");
    expect(changes).toEqual([`acme/large credential ${BREAKER.openMs}`]);
    advance(BREAKER.openMs * 2);
    health.begin(target("small"), {});
    health.answered(target("small"), 10, undefined);
    expect(changes).toContain("acme/small credential answers");
  });
});

describe("choices 8: health is kept by credential and upstream model", () => {
  test("a target that was never called is unknown", () => {
    const { health, target } = made();
    const { state, quietUntilMs, firstContentMs, tokensPerSecond } = health.of(target("large"));
    expect({ state, quietUntilMs, firstContentMs, tokensPerSecond }).toEqual({
      state: "closed",
      quietUntilMs: 0,
      firstContentMs: undefined,
      tokensPerSecond: undefined,
    });
    expect(health.p95FirstContentMs(target("large"))).toBeUndefined();
  });

  test("another model, or the same at another credential, is not touched", () => {
    const { health, target, open } = made();
    open(target("large"));
    expect(health.of(target("large")).state).toBe("open");
    expect(health.of(target("small")).state).toBe("closed");
    expect(health.of(target("large", "2")).state).toBe("closed");
  });

  test("another name and another dialect of the same model are the same", () => {
    const { health, target, open } = made();
    open(target("large"));
    expect(health.of(target("also-large")).state).toBe("open");
    expect(health.of(target("large", "1", "messages")).state).toBe("open");
    expect(health.of(target("large"))).toBe(health.of(target("large", "1", "messages")));
  });

  test("a model that the host does not know counts against that model", () => {
    const { health, target, failWith } = made();
    for (let at = 0; at < BREAKER.failures; at++) failWith(target("large"), "not_found", { failure: { status: 404 } });
    expect(health.of(target("large")).state).toBe("open");
    expect(health.of(target("small")).state).toBe("closed");
  });

  test("errors of the request do not count", () => {
    const { health, target, failWith } = made();
    for (let at = 0; at < 100; at++) failWith(target("large"), "invalid_request", { failure: { status: 400 } });
    for (let at = 0; at < 100; at++) failWith(target("large"), "content_blocked", { retryAfterSeconds: 60 });
    expect(health.of(target("large"))).toMatchObject({ state: "closed", quietUntilMs: 0 });
  });

  test("a provider may have its own breaker", () => {
    const own = { breaker: { failures: 1, windowMs: 10, openMs: 500 }, maxConcurrent: undefined };
    const { health, target, failWith, advance } = made(new RoutingDefaults(undefined, new Map([["pair", own]])));
    failWith(target("large"), "upstream_timeout");
    expect(health.of(target("large")).state).toBe("open");
    advance(499);
    expect(health.of(target("large")).state).toBe("open");
    advance(1);
    expect(health.of(target("large")).state).toBe("half_open");
  });
});

test("a call from before a breaker opened does not close it, whenever it is answered", () => {
  const { health, target, open, advance } = made();
  open(target("large"));
  advance(100);
  health.answered(target("large"), 101, "whole");
  expect(health.of(target("large")).state).toBe("open");
});

test("a reading is of the given time", () => {
  const { health, target, open, clock } = made();
  open(target("large"));
  expect(health.of(target("large"), clock.nowMs() + BREAKER.openMs).state).toBe("half_open");
  expect(health.of(target("large")).state).toBe("open");
});

describe("a probe", () => {
  test("is the first call after the pause; an answer closes the breaker", () => {
    const { health, target, open, advance } = made();
    open(target("large"));
    advance(BREAKER.openMs);
    expect(health.of(target("large")).state).toBe("half_open");
    health.begin(target("large"), {});
    expect(health.of(target("large")).state).toBe("open");
    advance(100);
    health.answered(target("large"), 100, "stream");
    expect(health.of(target("large")).state).toBe("closed");
  });

  test("that fails opens it for longer", () => {
    const { health, target, open, advance, failWith } = made();
    open(target("large"));
    advance(BREAKER.openMs);
    const probe = {};
    health.begin(target("large"), probe);
    failWith(target("large"), "overloaded", {}, probe);
    advance(2 * BREAKER.openMs - 1);
    expect(health.of(target("large")).state).toBe("open");
    advance(1);
    expect(health.of(target("large")).state).toBe("half_open");
  });

  test("that is abandoned, or fails by the client's fault, leaves its place to the next call", () => {
    const { health, target, open, advance, failWith } = made();
    open(target("large"));
    advance(BREAKER.openMs);
    const left = {};
    health.begin(target("large"), left);
    health.abandoned(target("large"), left);
    expect(health.of(target("large")).state).toBe("half_open");
    const wrong = {};
    health.begin(target("large"), wrong);
    failWith(target("large"), "invalid_request", {}, wrong);
    expect(health.of(target("large")).state).toBe("half_open");
  });
});

describe("choices 8: a credential that is rejected", () => {
  test("is out of use with all its models at the first rejection, without other credentials", () => {
    const { health, target, failWith } = made();
    failWith(target("large"), "upstream_credentials", { failure: { status: 401 } });
    expect(health.of(target("large")).state).toBe("open");
    expect(health.of(target("small")).state).toBe("open");
    expect(health.of(target("large", "2")).state).toBe("closed");
    expect(health.of(target("small", "2")).state).toBe("closed");
  });

  test("counts once, however many calls were on their way", () => {
    const { health, target, failWith, advance } = made();
    for (let at = 0; at < 10; at++) failWith(target("large"), "upstream_credentials");
    advance(BREAKER.openMs - 1);
    expect(health.of(target("large")).state).toBe("open");
    advance(1);
    expect(health.of(target("large")).state).toBe("half_open");
  });

  test("returns with a probe of any of its models; the rejected model needs its own probe", () => {
    const { health, target, failWith, advance } = made();
    failWith(target("large"), "upstream_credentials", { failure: { status: 403 } });
    advance(BREAKER.openMs);
    const probe = {};
    health.begin(target("small"), probe);
    // One probe for the credential, whichever model it is for.
    expect(health.of(target("large")).state).toBe("open");
    advance(10);
    health.answered(target("small"), 10, undefined);
    expect(health.of(target("small")).state).toBe("closed");
    expect(health.of(target("large")).state).toBe("half_open");
  });

  test("stays out where a call from before is answered", () => {
    const { health, target, failWith, advance } = made();
    failWith(target("large"), "upstream_credentials");
    advance(100);
    health.answered(target("small"), 101, "whole");
    expect(health.of(target("small")).state).toBe("open");
    health.answered(target("small"), 100, "whole");
    expect(health.of(target("small")).state).toBe("closed");
  });

  test("whose probe is abandoned is probed by the next call", () => {
    const { health, target, failWith, advance } = made();
    failWith(target("large"), "upstream_credentials");
    advance(BREAKER.openMs);
    const probe = {};
    health.begin(target("small"), probe);
    health.abandoned(target("small"), probe);
    expect(health.of(target("small")).state).toBe("half_open");
  });
});

describe("H19: a pause that a provider asks for", () => {
  test("is respected for the whole time", () => {
    const { health, target, failWith, clock } = made();
    failWith(target("large"), "rate_limited", { retryAfterSeconds: 7 });
    expect(health.of(target("large"))).toMatchObject({ state: "closed", quietUntilMs: clock.nowMs() + 7000 });
    expect(health.of(target("small")).quietUntilMs).toBe(0);
    expect(health.of(target("large", "2")).quietUntilMs).toBe(0);
    failWith(target("small"), "overloaded", { retryAfterSeconds: 2 });
    expect(health.of(target("small")).quietUntilMs).toBe(clock.nowMs() + 2000);
  });

  test("is respected in full, although callers are told at most a minute", () => {
    const { health, target, failWith, clock } = made();
    failWith(target("large"), "rate_limited", { retryAfterSeconds: 60, failure: { retryAfterSeconds: 600 } });
    expect(health.of(target("large")).quietUntilMs).toBe(clock.nowMs() + 600_000);
  });

  test("is not believed beyond an hour", () => {
    const { health, target, failWith, clock } = made();
    failWith(target("large"), "rate_limited", { failure: { retryAfterSeconds: 1e9 } });
    expect(health.of(target("large")).quietUntilMs).toBe(clock.nowMs() + 3_600_000);
  });

  test("a shorter wish does not take back a longer one", () => {
    const { health, target, failWith, clock } = made();
    failWith(target("large"), "rate_limited", { retryAfterSeconds: 30 });
    failWith(target("large"), "rate_limited", { retryAfterSeconds: 1 });
    expect(health.of(target("large")).quietUntilMs).toBe(clock.nowMs() + 30_000);
  });

  test("limits do not open a breaker", () => {
    const { health, target, failWith } = made();
    for (let at = 0; at < 100; at++) failWith(target("large"), "rate_limited", { retryAfterSeconds: 1 });
    expect(health.of(target("large")).state).toBe("closed");
  });

  const LIMITS = [
    { remaining: "left-a", reset: "full-a" },
    { remaining: "left-b", reset: "full-b" },
  ];

  test("a limit of which nothing is left is honoured before it hurts", () => {
    const { health, target, clock } = made();
    const headers = new Map([
      ["left-a", "12"],
      ["full-a", "30s"],
      ["left-b", "0"],
      ["full-b", "2s"],
    ]);
    health.noteLimits(target("large"), headers, LIMITS);
    expect(health.of(target("large")).quietUntilMs).toBe(clock.nowMs() + 2000);
    health.noteLimits(target("large"), headers.set("left-a", "0"), LIMITS);
    expect(health.of(target("large")).quietUntilMs).toBe(clock.nowMs() + 30_000);
  });

  test("for no longer than a minute, and not where the end is unknown", () => {
    const { health, target, clock } = made();
    health.noteLimits(target("large"), new Map([["left-a", "0"]]), LIMITS);
    expect(health.of(target("large")).quietUntilMs).toBe(0);
    health.noteLimits(
      target("large"),
      new Map([
        ["left-a", "0"],
        ["full-a", "23h59m"],
      ]),
      LIMITS,
    );
    expect(health.of(target("large")).quietUntilMs).toBe(clock.nowMs() + 60_000);
  });

  test("a limit that is not used up has no effect", () => {
    const { health, target } = made();
    const headers = new Map([
      ["left-a", "1"],
      ["full-a", "30s"],
      ["left-b", "-1"],
      ["full-b", "30s"],
    ]);
    health.noteLimits(target("large"), headers, LIMITS);
    expect(health.of(target("large")).quietUntilMs).toBe(0);
  });
});

describe("measurements", () => {
  test("the time to first content is that of streams, or else of whole responses", () => {
    const { health, target } = made();
    health.answered(target("large"), 900, "whole");
    expect(health.of(target("large")).firstContentMs).toBe(900);
    health.answered(target("large"), 100, "stream");
    health.answered(target("large"), 200, "stream");
    expect(health.of(target("large")).firstContentMs).toBe(150);
    expect(health.of(target("small")).firstContentMs).toBeUndefined();
  });

  test("other calls are not measured", () => {
    const { health, target } = made();
    health.answered(target("large"), 900, undefined);
    expect(health.of(target("large")).firstContentMs).toBeUndefined();
  });

  test("nearly all first contents arrive within the 95th percentile", () => {
    const { health, target } = made();
    for (let at = 0; at < 95; at++) health.answered(target("large"), 100, "stream");
    for (let at = 0; at < 5; at++) health.answered(target("large"), 4000, "stream");
    for (let at = 0; at < 100; at++) health.answered(target("small"), 100, "whole");
    const tailMs = health.p95FirstContentMs(target("large")) ?? 0;
    expect(tailMs).toBeGreaterThan(90);
    expect(tailMs).toBeLessThan(130);
    expect(health.p95FirstContentMs(target("small"))).toBeUndefined();
  });

  test("tokens a second are those of all answers together", () => {
    const { health, target } = made();
    health.generated(target("large"), 100, 1000);
    health.generated(target("large"), 900, 4000);
    expect(health.of(target("large")).tokensPerSecond).toBe(200);
    health.generated(target("small"), 0, 1000);
    health.generated(target("small"), 10, 0);
    expect(health.of(target("small")).tokensPerSecond).toBeUndefined();
    health.generated(target("small"), 50, 1000);
    expect(health.of(target("small")).tokensPerSecond).toBe(50);
  });

  test("everything fades", () => {
    const { health, target, advance } = made();
    health.answered(target("large"), 100, "stream");
    health.generated(target("large"), 100, 1000);
    advance(31 * 60_000);
    expect(health.of(target("large")).firstContentMs).toBeUndefined();
    expect(health.of(target("large")).tokensPerSecond).toBeUndefined();
  });
});

describe("a new configuration", () => {
  test("keeps the health of targets that stay, even at another position", () => {
    const { health, target, open } = made();
    open(target("large"));
    health.answered(target("small", "2"), 100, "stream");
    const next = targetsOf(["key-2", "key-1"]);
    health.reconfigure(next, new RoutingDefaults());
    const found = (id: string) => health.of(next.find((one) => one.id === id) as Target);
    expect(found("acme/large pair large chat 2").state).toBe("open");
    expect(found("acme/large pair large chat 1").state).toBe("closed");
    expect(found("acme/small pair small chat 1").firstContentMs).toBe(100);
  });

  test("forgets removed targets", () => {
    const { health, target, targets, open, failWith } = made();
    open(target("large"));
    failWith(target("small", "2"), "upstream_credentials");
    const others = targetsOf(["key-3"]);
    health.reconfigure(others, new RoutingDefaults());
    expect(others.every((one) => health.of(one).state === "closed")).toBe(true);
    health.reconfigure(targets, new RoutingDefaults());
    expect(health.of(target("large")).state).toBe("closed");
    expect(health.of(target("large", "2")).state).toBe("closed");
  });

  test("gives a refused credential a new chance, and nothing else", () => {
    const { health, target, targets, open, failWith } = made();
    failWith(target("small"), "upstream_credentials");
    open(target("large", "2"));
    health.reconfigure(targets, new RoutingDefaults());
    expect(health.of(target("small")).state).toBe("closed");
    expect(health.of(target("large")).state).toBe("closed");
    expect(health.of(target("large", "2")).state).toBe("open");
    // Only once: what has failed since is not forgiven by the next one.
    open(target("small"));
    health.reconfigure(targets, new RoutingDefaults());
    expect(health.of(target("small")).state).toBe("open");
  });

  test("brings its breakers", () => {
    const { health, target, targets, failWith, open, advance } = made();
    open(target("small"));
    const own = { breaker: { failures: 2, windowMs: 1000, openMs: 100 }, maxConcurrent: undefined };
    health.reconfigure(targets, new RoutingDefaults(undefined, new Map([["pair", own]])));
    failWith(target("small", "2"), "upstream_failed");
    failWith(target("small", "2"), "upstream_failed");
    expect(health.of(target("small", "2")).state).toBe("open");
    advance(BREAKER.openMs);
    const probe = {};
    health.begin(target("small"), probe);
    failWith(target("small"), "upstream_failed", {}, probe);
    advance(200);
    expect(health.of(target("small")).state).toBe("half_open");
    failWith(target("large"), "upstream_credentials");
    advance(100);
    expect(health.of(target("large")).state).toBe("half_open");
  });

  test("the same host under another name is somebody else", () => {
    const { health, target, open } = made();
    open(target("large"));
    const others = targetsOf(["key-1"], "other");
    expect(others.every((one) => health.of(one).state === "closed")).toBe(true);
  });
});

describe("choices 9: processes share what they learn about targets", () => {
  /** Two processes with the same configuration; what one tells, the other hears. */
  function pair() {
    const one = made();
    const other = made();
    one.health.onNews = (news) => other.health.applyNews(JSON.parse(JSON.stringify(news)), other.targets);
    return { one, other };
  }

  test("a breaker opens there for as long as here, and closes when it is answered here", () => {
    const { one, other } = pair();
    one.open(one.target("large"));
    expect(other.health.of(other.target("large")).state).toBe("open");
    expect(other.health.of(other.target("small")).state).toBe("closed");
    other.advance(BREAKER.openMs);
    expect(other.health.of(other.target("large")).state).toBe("half_open");
    one.advance(BREAKER.openMs);
    one.health.answered(one.target("large"), 1, "whole");
    expect(other.health.of(other.target("large")).state).toBe("closed");
  });

  test("a credential that is rejected here is not used there", () => {
    const { one, other } = pair();
    one.failWith(one.target("large"), "upstream_credentials");
    expect(other.health.of(other.target("small")).state).toBe("open");
    expect(other.health.of(other.target("small", "2")).state).toBe("closed");
  });

  test("a measurement counts there once", () => {
    const { one, other } = pair();
    for (const ms of [100, 300]) one.health.answered(one.target("large"), ms, "stream");
    one.health.generated(one.target("large"), 50, 1_000);
    one.health.publishMeasurements();
    one.health.publishMeasurements();
    const heard = other.health.of(other.target("large"));
    expect([heard.firstContentMs, heard.tokensPerSecond]).toEqual([200, 50]);
    other.health.answered(other.target("large"), 500, "stream");
    expect(heard.firstContentMs).toBe(300);
    // What was heard is not told back.
    const told: unknown[] = [];
    other.health.onNews = (news) => told.push(news.measured);
    other.health.publishMeasurements();
    expect(told).toEqual([[500, 1, 0, 0, 0, 0]]);
  });

  test("targets that are not configured here are ignored", () => {
    const { other } = pair();
    other.health.applyNews({ target: "another one", breaker: { ofCredential: false, openMs: 1_000 } }, other.targets);
    expect(other.targets.every((target) => other.health.known(target) === undefined)).toBe(true);
  });
});
