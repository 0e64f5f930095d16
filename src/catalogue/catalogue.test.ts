import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import { buildCatalogue, type Catalogue, type ModelOverlay } from "./catalogue.ts";
import type { BuiltInModel, PriceItem } from "./model.ts";

const openai = { name: "openai", publishers: ["openai"] };
const claude = { name: "claude", publishers: ["anthropic"] };
const vllm = { name: "my-vllm", publishers: [] };
const simulated: BuiltInModel = {
  id: "trivium/echo",
  displayName: "Echo",
  upstreamModel: "sim-echo",
  kind: "text",
  inputModalities: ["text"],
  outputModalities: ["text"],
  reasoning: false,
  pricings: {},
};
const simulator = { name: "simulator", publishers: [], models: [simulated] };

const flat = (value: number): PriceItem[] => [{ value, unit: "perMTokens", currency: "USD" }];

function ids(catalogue: Catalogue): string[] {
  return catalogue.list().map((model) => model.id);
}

function refusal(catalogue: Catalogue, name: string): string {
  try {
    catalogue.resolve(name);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error).toMatchObject({ kind: "not_found", path: "model" });
    return error.message;
  }
  throw new Error(`${name} was resolved`);
}

describe("decisions 7: only models with a live offer are listed", () => {
  test("none without providers; a publisher's with the provider that serves it; a provider's own", () => {
    expect(ids(buildCatalogue({ providers: [], models: [] }))).toEqual([]);
    const one = buildCatalogue({ providers: [openai, simulator], models: [] });
    expect(new Set(ids(one).map((id) => id.split("/")[0]))).toEqual(new Set(["openai", "trivium"]));
    expect(ids(one)).toHaveLength(29);
    expect(one.get("trivium/echo")?.offers).toEqual([
      { provider: "simulator", upstreamModel: "sim-echo", pricings: {} },
    ]);
    expect(one.get("anthropic/claude-opus-5")).toBeUndefined();
  });

  test("two providers of one publisher give two offers, in the order of configuration", () => {
    const second = { name: "openai-eu", publishers: ["openai"] };
    const model = buildCatalogue({ providers: [second, openai], models: [] }).get("openai/gpt-5.4");
    expect(model?.offers.map((offer) => offer.provider)).toEqual(["openai-eu", "openai"]);
    expect(model?.offers[0]).toEqual({
      provider: "openai-eu",
      upstreamModel: "gpt-5.4",
      pricings: model?.pricings ?? {},
      contextLength: model?.contextLength ?? 0,
      maxOutputTokens: model?.maxOutputTokens ?? 0,
    });
  });

  test("an offer at a provider that is not configured does not count", () => {
    const models = [{ id: "acme/llama", offers: [{ provider: "gone", model: "m" }] }];
    expect(ids(buildCatalogue({ providers: [vllm], models }))).toEqual([]);
  });
});

describe("decisions 7: configuration is laid over the built-in catalogue", () => {
  const id = "anthropic/claude-sonnet-4-5";
  const build = (overlay: ModelOverlay) =>
    buildCatalogue({ providers: [claude, openai, vllm], models: [overlay] }).get(overlay.id);
  const before = buildCatalogue({ providers: [claude], models: [] }).get(id);

  test("without offers, the built-in ones stay and only the fields that are set change", () => {
    const model = build({ id, displayName: "Ours", maxOutputTokens: 1000, pricings: { prompt: flat(9) } });
    const pricings = { ...before?.pricings, prompt: flat(9) };
    expect(before?.pricings.completion).toBeDefined();
    expect(model).toEqual({
      ...(before as NonNullable<typeof before>),
      displayName: "Ours",
      maxOutputTokens: 1000,
      pricings,
      offers: [
        {
          provider: "claude",
          upstreamModel: "claude-sonnet-4-5",
          contextLength: before?.contextLength ?? 0,
          maxOutputTokens: 1000,
          pricings,
        },
      ],
    });
  });

  test("with offers, exactly those, each over the model's values", () => {
    const model = build({
      id,
      contextLength: 5000,
      offers: [
        {
          provider: "my-vllm",
          model: "other",
          pricings: { prompt: flat(1) },
          contextLength: 4000,
          weight: 3,
          dialect: "chat",
        },
        { provider: "openai", model: "plain" },
      ],
    });
    const limits = { maxOutputTokens: before?.maxOutputTokens ?? 0 };
    expect(model?.offers).toEqual([
      {
        provider: "my-vllm",
        upstreamModel: "other",
        ...limits,
        contextLength: 4000,
        weight: 3,
        dialect: "chat",
        pricings: { ...before?.pricings, prompt: flat(1) },
      },
      { provider: "openai", upstreamModel: "plain", ...limits, contextLength: 5000, pricings: before?.pricings ?? {} },
    ]);
  });

  test("an empty list of offers takes a model out", () => {
    expect(build({ id, offers: [] })).toBeUndefined();
  });

  test("a model that the catalogue does not know has plain defaults, and its own name upstream", () => {
    expect(build({ id: "acme/llama", offers: [{ provider: "my-vllm", model: "meta-llama/Llama-3.3-70B" }] })).toEqual({
      id: "acme/llama",
      displayName: "llama",
      inputModalities: ["text"],
      outputModalities: ["text"],
      reasoning: false,
      kind: "text",
      pricings: {},
      offers: [{ provider: "my-vllm", upstreamModel: "meta-llama/Llama-3.3-70B", pricings: {} }],
    });
    expect(build({ id: "openai/gpt-99" })?.offers).toEqual([
      { provider: "openai", upstreamModel: "gpt-99", pricings: {} },
    ]);
    expect(build({ id: "openai/film", outputModalities: ["video", "audio"] })?.kind).toBe("video");
    expect(build({ id: "openai/paint", outputModalities: ["image"] })?.kind).toBe("image");
  });

  test("one catalogue's configuration does not leak into the next", () => {
    build({ id, displayName: "Ours", pricings: { prompt: flat(9) } });
    expect(buildCatalogue({ providers: [claude], models: [] }).get(id)).toEqual(before as NonNullable<typeof before>);
  });
});

describe("resolve", () => {
  const google = { name: "google", publishers: ["google"] };
  const catalogue = buildCatalogue({
    providers: [openai, claude, google, vllm],
    models: [
      {
        id: "acme/llama:8b",
        offers: [
          { provider: "my-vllm", model: "a" },
          { provider: "openai", model: "b" },
          { provider: "my-vllm", model: "c" },
        ],
      },
    ],
  });

  test("decisions 1: id:provider pins a provider's offers, and ids may have colons of their own", () => {
    const upstream = (name: string) => catalogue.resolve(name).offers.map((offer) => offer.upstreamModel);
    expect(upstream("acme/llama:8b")).toEqual(["a", "b", "c"]);
    expect(upstream("acme/llama:8b:my-vllm")).toEqual(["a", "c"]);
    expect(upstream("openai/gpt-5.4:openai")).toEqual(["gpt-5.4"]);
    expect(catalogue.resolve("acme/llama:8b:openai").model.id).toBe("acme/llama:8b");
  });

  test("a pin on a provider that does not offer the model names those that do", () => {
    expect(refusal(catalogue, "acme/llama:8b:claude")).toBe(
      'The provider "claude" does not offer acme/llama:8b. Providers that do: my-vllm, openai.',
    );
  });

  test.each([
    ["gpt-5.4", "openai/gpt-5.4"],
    ["openai/gpt5.4", "openai/gpt-5.4"],
    ["OpenAI/GPT-5.4", "openai/gpt-5.4"],
    ["openapi/gpt-5.4", "openai/gpt-5.4"],
    ["anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"],
    ["claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"],
    ["anthropic/cluade-opus-5", "anthropic/claude-opus-5"],
    ["google/gemini-3-pro-imag", "google/gemini-3-pro-image"],
    ["openai/claude-opus-5", "anthropic/claude-opus-5"],
    ["openai/gpt5.4:openai", "openai/gpt-5.4"],
    ["acme/lama:8b", "acme/llama:8b"],
  ])("%s: %s is suggested first, of three at most", (name, meant) => {
    const [, suggested = ""] = /Did you mean (.*)\?$/.exec(refusal(catalogue, name)) ?? [];
    expect(suggested.split(" or ")[0]).toBe(meant);
    expect(suggested.split(" or ").length).toBeLessThanOrEqual(3);
  });

  test("a model of the catalogue that nobody here offers is not called unknown", () => {
    const empty = buildCatalogue({ providers: [], models: [] });
    expect(refusal(empty, "openai/gpt-5.4")).toBe("openai/gpt-5.4 is known, but no provider of it is configured here.");
  });

  test("a name near nothing, or too long to compare, is told what a name looks like", () => {
    expect(refusal(catalogue, "nothing-like-it")).toBe(
      'There is no model "nothing-like-it". A model is named <provider>/<model_name>; the model list shows those that can be called.',
    );
    const message = refusal(catalogue, `openai/${"x".repeat(100_000)}`);
    expect(message.length).toBeLessThan(300);
  });
});
