import { describe, expect, test } from "bun:test";
import { Secret } from "../base/secret.ts";
import { system } from "../base/system.ts";
import { buildCatalogue, type ModelOverlay } from "../catalogue/catalogue.ts";
import { BUILT_IN, createProvider } from "../providers/index.ts";
import { plan } from "./plan.ts";
import { Targets } from "./targets.ts";

const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "amazon.nova-lite-v1:0";

const apiKey = new Secret("key");
const providers = new Map(
  [
    createProvider({ name: "cloud", kind: "bedrock", region: "eu-west-1", apiKey }, system),
    createProvider({ name: "maker", kind: "anthropic", apiKey }, system),
    createProvider({ name: "painter", kind: "openai", apiKey }, system),
  ].map((provider) => [provider.name, provider]),
);

/** A model with these offers, and its targets. */
function made(overlay: Partial<ModelOverlay>) {
  const catalogue = buildCatalogue({
    providers: [...providers.values()].map(({ name }) => ({ name, publishers: [] })),
    models: [{ id: "acme/model", ...overlay }],
  });
  return { targets: new Targets(catalogue.list(), providers, BUILT_IN), ...catalogue.resolve("acme/model") };
}

const both = made({
  reasoning: true,
  maxOutputTokens: 1000,
  offers: [
    { provider: "cloud", model: CLAUDE },
    { provider: "maker", model: "claude-sonnet-4-5", maxOutputTokens: 500 },
  ],
});

describe("targets of conversations", () => {
  test("each offer has one for each dialect that its provider serves the model in", () => {
    const found = both.targets.text(both.model, both.offers);
    expect(found.map(({ provider, via }) => [provider.name, via])).toEqual([
      ["cloud", "converse"],
      ["cloud", "messages"],
      ["maker", "messages"],
    ]);
    expect(new Set(found.map(({ id }) => id)).size).toBe(3);
  });

  test("each knows what its host and its model need", () => {
    const [converse, messages, maker] = both.targets.text(both.model, both.offers);
    expect(converse).toMatchObject({ framing: "aws-event-stream", origin: "messages" });
    expect(messages?.quirks).toBe(providers.get("cloud")?.quirksOf("messages"));
    expect(maker).toMatchObject({ framing: "sse", countsTokens: true });
    expect(converse?.traits.maxOutputTokens).toBe(1000);
    expect(maker?.traits.maxOutputTokens).toBe(500);
    expect(maker?.isForeignOrigin("messages")).toBe(false);
    expect(maker?.isForeignOrigin("bedrock")).toBe(true);
    expect(maker?.isForeignOrigin("no word of any host")).toBe(false);
  });

  test("an offer may be pinned to a dialect", () => {
    const { targets, model, offers } = made({ offers: [{ provider: "cloud", model: CLAUDE, dialect: "messages" }] });
    const found = targets.text(model, offers);
    expect(found.map(({ via }) => via)).toEqual(["messages"]);
    // Those of a single offer, which is what most models have, are not even copied for a call.
    expect(targets.text(model, offers)).toBe(found);
  });

  test("a model that no provider serves as configured is not found", () => {
    const none = made({ offers: [{ provider: "cloud", model: NOVA, dialect: "messages" }] });
    expect(() => none.targets.text(none.model, none.offers)).toThrow(
      "None of the providers of acme/model (cloud) serves it as it is configured.",
    );
  });
});

describe("the plan", () => {
  const planned = (dialect: "chat" | "messages") =>
    plan(both.targets.text(both.model, both.offers), { dialect }).map(({ provider, via }) => [provider.name, via]);

  test("has one target for each offer, in the client's own dialect where the provider speaks it", () => {
    expect(planned("messages")).toEqual([
      ["cloud", "messages"],
      ["maker", "messages"],
    ]);
  });

  test("has the best of the provider's own dialects where it does not", () => {
    expect(planned("chat")).toEqual([
      ["cloud", "converse"],
      ["maker", "messages"],
    ]);
  });
});

describe("targets of images and videos", () => {
  test("are those whose provider has an adapter for the model", () => {
    const painting = made({
      outputModalities: ["image"],
      offers: [
        { provider: "maker", model: "gpt-image-1" },
        { provider: "painter", model: "gpt-image-1" },
      ],
    });
    const found = painting.targets.images(painting.model, painting.offers);
    expect(found.map(({ provider, via }) => [provider.name, via])).toEqual([["painter", "media"]]);
    expect(found[0]?.adapter).toBe(providers.get("painter")?.media?.images("gpt-image-1"));
  });

  test("the same host may make one with a model and not the other", () => {
    const filming = made({
      outputModalities: ["image", "video"],
      offers: [
        { provider: "painter", model: "gpt-image-1" },
        { provider: "painter", model: "sora-2" },
      ],
    });
    const { model, offers, targets } = filming;
    const named = (found: readonly { offer: { upstreamModel: string } }[]) =>
      found.map(({ offer }) => offer.upstreamModel);
    expect(named(targets.images(model, offers))).toEqual(["gpt-image-1"]);
    expect(named(targets.videos(model, offers))).toEqual(["sora-2"]);
    expect(targets.videos(model, offers)[0]?.adapter).toBe(providers.get("painter")?.media?.videos("sora-2"));
  });

  test("a model that makes something else is refused", () => {
    expect(() => both.targets.videos(both.model, both.offers)).toThrow("acme/model makes text, not videos.");
  });

  test("a model that no provider makes images with is refused", () => {
    const none = made({ outputModalities: ["image"], offers: [{ provider: "maker", model: "painter" }] });
    expect(() => none.targets.images(none.model, none.offers)).toThrow(
      "None of the providers of acme/model (maker) makes images with it.",
    );
  });
});
