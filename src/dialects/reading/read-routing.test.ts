import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import { NO_PREFERENCE } from "../../canon/preference.ts";
import { readRouting } from "./read-routing.ts";

const inHeader = (value: unknown) => new Headers({ "x-trivium-routing": JSON.stringify(value) });
const NONE = new Headers();

function preferenceOf(provider: object) {
  const { preference } = readRouting({ provider }, NONE)?.asked ?? {};
  return JSON.parse(JSON.stringify(preference)) as unknown;
}

function refusalOf(body: object, headers = NONE): { path: string | undefined; message: string } {
  try {
    readRouting(body as Record<string, unknown>, headers);
  } catch (thrown) {
    if (thrown instanceof GatewayError) {
      expect(thrown.kind).toBe("invalid_request");
      return { path: thrown.path, message: thrown.message };
    }
    throw thrown;
  }
  throw new Error("it was not refused");
}

describe("contract 2.12, choices 6: provider", () => {
  test("a request without routing gives undefined", () => {
    expect(readRouting({ model: "a/b", messages: [] }, new Headers({ "x-trivium-strict": "true" }))).toBeUndefined();
  });

  test("reads every member of the contract", () => {
    const provider = {
      type: "round_robin",
      primary_factor: "quality",
      providers: ["one", "two"],
      fallback: "false",
    };
    expect(preferenceOf(provider)).toEqual({
      type: "round_robin",
      primaryFactor: "quality",
      providers: ["one", "two"],
      fallback: "none",
    });
  });

  test.each([
    ["true", "all"],
    [true, "all"],
    ["True", "all"],
    ["false", "none"],
    [false, "none"],
    ["azure-eu", { provider: "azure-eu" }],
    ["acme/model", { model: "acme/model" }],
  ])("a fallback of %p means %p", (fallback, meant) => {
    expect(preferenceOf({ fallback })).toEqual({ fallback: meant });
  });

  test.each([
    [{ type: "order" }, { type: "priority" }],
    [{ type: "latency" }, { type: "least_latency" }],
    [{ type: "price" }, { type: "priority", primaryFactor: "cost" }],
    [{ type: "throughput" }, { type: "priority", primaryFactor: "speed" }],
    [{ primary_factor: "price" }, { primaryFactor: "cost" }],
    [{ primary_factor: "throughput" }, { primaryFactor: "speed" }],
    [{ primary_factor: "latency" }, { type: "least_latency", primaryFactor: "speed" }],
    [
      { type: "priority", primary_factor: "latency" },
      { type: "least_latency", primaryFactor: "speed" },
    ],
    [
      { type: "round_robin", primary_factor: "latency" },
      { type: "round_robin", primaryFactor: "speed" },
    ],
    [{ order: ["one"] }, { providers: ["one"] }],
  ])("%p is a synonym of %p, at the top and nested", (written, meant) => {
    expect(preferenceOf(written)).toEqual(meant);
    expect(preferenceOf({ routing: written })).toEqual(meant);
  });

  test("reads nested and top-level members together", () => {
    const provider = { fallback: "two", routing: { type: "priority", providers: ["one"] } };
    expect(preferenceOf(provider)).toEqual({ type: "priority", providers: ["one"], fallback: { provider: "two" } });
    expect(preferenceOf({ type: "priority", routing: { type: "order" } })).toEqual({ type: "priority" });
  });

  test("an empty object, an empty list and null are ignored", () => {
    for (const provider of [{}, { providers: [] }, { routing: {} }, { type: null }, null]) {
      expect(readRouting({ provider }, NONE)?.asked.preference).toBe(NO_PREFERENCE);
    }
  });

  test("unknown members are noted, with the known ones", () => {
    const { notes } = readRouting({ provider: { sort: "price", routing: { only: ["one"] } } }, NONE) ?? {};
    const reason = "not a routing option; the options are type, primary_factor, providers, order, fallback";
    expect(notes).toEqual([
      { path: "provider.sort", action: "dropped", reason },
      { path: "provider.routing.only", action: "dropped", reason },
    ]);
  });

  test("the paths of names are those of the request, for later errors", () => {
    const nested = { provider: { routing: { order: ["one"] }, fallback: "two" } };
    expect(readRouting(nested, NONE)?.paths).toMatchObject({
      providers: "provider.routing.order",
      fallback: "provider.fallback",
    });
    expect(readRouting({}, inHeader({ provider: { providers: ["one"] } }))?.paths).toMatchObject({
      providers: "x-trivium-routing: provider.providers",
    });
  });
});

describe("contract 2.12: model_routing_config", () => {
  test("reads every member, and notes those without a meaning here", () => {
    const model_routing_config = {
      available_models: ["a/b", "c/d"],
      preference: "price",
      task_info: { task_type: "chat", complexity: "high", additional_properties: { a: 1 } },
      additional_properties: {},
    };
    const { asked, notes } = readRouting({ model_routing_config }, NONE) ?? {};
    expect(asked).toEqual({
      preference: NO_PREFERENCE,
      auto: { availableModels: ["a/b", "c/d"], preference: "price", taskType: "chat", complexity: "high" },
      survive: undefined,
      hedge: undefined,
      deadlineMs: undefined,
    });
    expect(notes?.map(({ path }) => path)).toEqual(["model_routing_config.task_info.additional_properties"]);
  });
});

describe("choices 8: options of a call", () => {
  test("in the body", () => {
    const trivium = { survive: true, hedge: false, deadline_ms: 1500 };
    expect(readRouting({ trivium }, NONE)?.asked).toMatchObject({ survive: true, hedge: false, deadlineMs: 1500 });
  });

  test("in headers", () => {
    const headers = new Headers({
      "x-trivium-survive": "TRUE",
      "x-trivium-hedge": "false",
      "x-trivium-deadline-ms": " 86400000 ",
    });
    expect(readRouting({}, headers)?.asked).toMatchObject({ survive: true, hedge: false, deadlineMs: 86_400_000 });
  });

  test("the header takes both objects", () => {
    const headers = inHeader({ provider: { type: "least_latency" }, model_routing_config: { preference: "balanced" } });
    expect(readRouting({}, headers)?.asked).toMatchObject({
      preference: { type: "least_latency" },
      auto: { preference: "balanced" },
    });
  });

  test("equal values in both are accepted", () => {
    const provider = { type: "priority", providers: ["one"] };
    const headers = inHeader({ provider: { providers: ["one"], type: "priority" } });
    headers.set("x-trivium-survive", "true");
    const asked = readRouting({ provider, trivium: { survive: true } }, headers)?.asked;
    expect(asked).toMatchObject({ preference: { type: "priority", providers: ["one"] }, survive: true });
  });
});

describe("errors name the path and the expected value", () => {
  test.each([
    [{ provider: "one" }, "provider", "must be an object"],
    [{ provider: { type: "fastest" } }, "provider.type", '"priority", "round_robin", "least_latency"; it is "fastest"'],
    [{ provider: { providers: "one" } }, "provider.providers", "must be an array"],
    [{ provider: { Type: "priority" } }, "provider.Type", "must be written type"],
    [{ provider: { fallback: "" } }, "provider.fallback", 'the string "true", "false", a provider name or a model id'],
    [
      { provider: { type: "priority", routing: { type: "round_robin" } } },
      "provider.routing.type",
      "provider.routing.type and provider.type differ",
    ],
    [
      { provider: { providers: ["one"], order: ["two"] } },
      "provider.order",
      "provider.order and provider.providers differ",
    ],
    [
      { model_routing_config: { available_models: [] } },
      "model_routing_config.available_models",
      "of 1 to 1000 items; it has 0 items",
    ],
    [{ trivium: { survive: "yes" } }, "trivium.survive", "must be true or false"],
    [{ trivium: { deadline_ms: 0.5 } }, "trivium.deadline_ms", "from 1 to 86400000"],
    [{ trivium: { surviv: true } }, "trivium.surviv", "use one of survive, hedge, deadline_ms"],
    [{ trivium: [] }, "trivium", "must be an object"],
  ])("%j", (body, path, says) => {
    const refusal = refusalOf(body);
    expect(refusal.path).toBe(path);
    expect(refusal.message).toContain(says);
  });

  test.each([
    ["x-trivium-routing", "least_latency", "must be JSON such as"],
    ["x-trivium-routing", "[]", "must be JSON such as"],
    ["x-trivium-routing", '{"type":"priority"}', 'has an unknown member "type"; use provider or model_routing_config'],
    ["x-trivium-routing", '{"provider":{"type":"x"}}', "x-trivium-routing: provider.type must be one of"],
    ["x-trivium-survive", "yes", 'must be true or false; it is "yes"'],
    ["x-trivium-hedge", "1", "must be true or false"],
    ["x-trivium-deadline-ms", "0", "from 1 to 86400000"],
    ["x-trivium-deadline-ms", "86400001", "from 1 to 86400000"],
    ["x-trivium-deadline-ms", "1e3", "from 1 to 86400000"],
  ])("%s: %s", (header, value, says) => {
    const refusal = refusalOf({}, new Headers({ [header]: value }));
    expect(refusal.path).toBe(header);
    expect(refusal.message).toContain(says);
  });

  test("reports a header and body that contradict each other", () => {
    const different = inHeader({ provider: { type: "priority" } });
    expect(refusalOf({ provider: { type: "round_robin" } }, different)).toEqual({
      path: "provider",
      message:
        "provider in the body and the x-trivium-routing header differ. Send only one of them, or the same value in both.",
    });
    for (const [name, header, value] of [
      ["survive", "x-trivium-survive", "false"],
      ["hedge", "x-trivium-hedge", "false"],
      ["deadline_ms", "x-trivium-deadline-ms", "7"],
    ] as const) {
      const trivium = { survive: true, hedge: true, deadline_ms: 8 };
      expect(refusalOf({ trivium }, new Headers({ [header]: value })).path).toBe(`trivium.${name}`);
    }
  });
});
