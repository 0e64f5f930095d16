import { describe, expect, test } from "bun:test";
import { Secret } from "../base/secret.ts";
import { system } from "../base/system.ts";
import { NO_PREFERENCE } from "../canon/preference.ts";
import { buildCatalogue, type ModelOverlay } from "../catalogue/catalogue.ts";
import { BUILT_IN, createProvider } from "../providers/index.ts";
import { originsOf } from "../providers/registry.ts";
import { type TextTarget, targetsOf } from "./target.ts";
import { Targets } from "./targets.ts";

const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "amazon.nova-lite-v1:0";

const apiKey = new Secret("key");
const second = { index: 1, label: "second", weight: 2 };
const configured = [
  createProvider({ name: "cloud", kind: "bedrock", region: "eu-west-1", apiKey }, system),
  createProvider({ name: "maker", kind: "anthropic", apiKey }, system),
  createProvider({ name: "painter", kind: "openai", apiKey }, system),
  createProvider({ name: "proxy", kind: "openai", apiKey, baseUrl: "http://127.0.0.1:9/v1" }, system),
  createProvider({ name: "chatter", kind: "openai", apiKey, dialects: ["chat"] }, system),
  createProvider({ name: "pair", kind: "openai", apiKey, credential: { index: 0, label: "1", weight: 1 } }, system),
  createProvider({ name: "pair", kind: "openai", apiKey: new Secret("another"), credential: second }, system),
];
const providers = Map.groupBy(configured, ({ name }) => name);
const only = (name: string) => providers.get(name)?.[0];

/** A model with these offers, and its targets. */
function made(overlay: Partial<ModelOverlay>) {
  const catalogue = buildCatalogue({
    providers: [...providers.keys()].map((name) => ({ name, publishers: [] })),
    models: [{ id: "acme/model", ...overlay }],
  });
  return { targets: new Targets(catalogue.list(), providers, BUILT_IN), catalogue, ...catalogue.resolve("acme/model") };
}

/** All targets of its conversations. */
function textTargets({ model, offers }: ReturnType<typeof made>): TextTarget[] {
  const spoken = { dialects: BUILT_IN.dialects, origins: originsOf(BUILT_IN) };
  return offers.flatMap((offer) => targetsOf(model, offer, providers.get(offer.provider) ?? [], spoken).text);
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
  test("decision 0044: the model's best dialect is first at its vendor, and the configured order elsewhere", () => {
    const vias = (provider: string, model: string, dialect?: "chat") =>
      textTargets(made({ offers: [{ provider, model, ...(dialect === undefined ? {} : { dialect }) }] })).map(
        ({ via }) => via,
      );
    expect(vias("painter", "gpt-5")).toEqual(["responses", "chat"]);
    expect(vias("painter", "gpt-4o")).toEqual(["chat", "responses"]);
    expect(vias("painter", "gpt-5", "chat")).toEqual(["chat"]);
    expect(vias("proxy", "gpt-5")).toEqual(["chat"]);
  });

  test("decision 0044: the kind says what a host is, wherever it listens, unless that is this machine or `home` says no", () => {
    const at = (kind: string, baseUrl: string, home?: boolean) => {
      const settings = { name: "host", kind, apiKey, baseUrl, ...(home === undefined ? {} : { home }) };
      const { atHome, batches, files, dialects } = createProvider(settings, system);
      const used = [batches !== undefined, files.length > 0, dialects.includes("responses")];
      expect(new Set([atHome, ...used]).size).toBe(1);
      return atHome;
    };
    expect(at("openai", "https://eu.api.openai.com/v1")).toBe(true);
    expect(at("openai", "http://models.example/openai/v1")).toBe(true);
    expect(at("openai", "http://models.example/openai/v1", false)).toBe(false);
    expect(at("openai", "http://[::1]:4000/v1")).toBe(false);
    expect(at("openai", "http://localhost:4000/v1", true)).toBe(true);
    // Of a server of one's own, nobody knows the version.
    const own = { name: "own", kind: "vllm", baseUrl: "http://models.example/v1" };
    expect(createProvider(own, system).atHome).toBe(false);
    expect(createProvider({ ...own, home: true }, system).atHome).toBe(true);
    expect(at("openai-compatible", "https://models.example/v1")).toBe(false);
  });

  test("decision 0092: calls with tools go in the dialect that the model or its offer needs for them", () => {
    const vias = (offer: Record<string, string>, client: string, tools: boolean) => {
      const { targets, model, offers } = made({ offers: [{ model: "gpt-5.6", provider: "painter", ...offer }] });
      return targets.text(model, offers, client, tools).list.flatMap((one) => one.targets.map(({ via }) => via));
    };
    expect(vias({}, "chat", false)).toEqual(["chat"]);
    expect(vias({}, "chat", true)).toEqual(["responses"]);
    expect(vias({}, "responses", false)).toEqual(["responses"]);
    expect(vias({ model: "gpt-5.4" }, "chat", true)).toEqual(["chat"]);
    // An offer's own dialect, and another address than the vendor's, go before what is known of the model.
    expect(vias({ dialect: "chat" }, "chat", true)).toEqual(["chat"]);
    expect(vias({ provider: "proxy" }, "chat", true)).toEqual(["chat"]);
    expect(vias({ provider: "proxy", toolsDialect: "responses" }, "chat", true)).toEqual(["responses"]);
    expect(vias({ provider: "proxy", toolsDialect: "responses" }, "responses", false)).toEqual(["chat"]);
    expect(vias({ provider: "pair", toolsDialect: "responses" }, "chat", true)).toEqual(["responses", "responses"]);
    // The vendor's own address, configured without the dialect.
    expect(vias({ provider: "chatter" }, "chat", false)).toEqual(["chat"]);
    expect(() => vias({ provider: "chatter" }, "chat", true)).toThrow(
      "accepts tools only in the protocol responses, for which its providers (chatter) are not configured",
    );
    expect(vias({ provider: "chatter", dialect: "chat" }, "chat", true)).toEqual(["chat"]);
    // One that the provider does not speak changes nothing.
    expect(vias({ provider: "painter", toolsDialect: "genai" }, "chat", true)).toEqual(["responses"]);
  });

  test("each offer has one for each dialect that its provider serves the model in", () => {
    const found = textTargets(both);
    expect(found.map(({ provider, via }) => [provider.name, via])).toEqual([
      ["cloud", "converse"],
      ["cloud", "messages"],
      ["maker", "messages"],
    ]);
    expect(new Set(found.map(({ id }) => id)).size).toBe(3);
  });

  test("a response is continued by chat hosts that are known to support it, and elsewhere if configured", () => {
    const goesOn = (provider: string, prefill?: boolean) =>
      textTargets(
        made({ offers: [{ provider, model: "some-model", ...(prefill === undefined ? {} : { prefill }) }] }),
      ).map((target) => [target.via, target.goesOn]);
    expect(goesOn("maker")).toEqual([["messages", false]]);
    expect(goesOn("maker", true)).toEqual([["messages", true]]);
    expect(goesOn("painter")).toEqual([
      ["chat", false],
      ["responses", false],
    ]);
  });

  test("each has the quirks and traits of its host and model", () => {
    const [converse, messages, maker] = textTargets(both);
    expect(converse).toMatchObject({ framing: "aws-event-stream", origin: "messages" });
    expect(messages?.quirks).toBe(only("cloud")?.quirksOf("messages"));
    expect(maker).toMatchObject({ framing: "sse", countsTokens: true });
    expect(converse?.traits.maxOutputTokens).toBe(1000);
    expect(maker?.traits.maxOutputTokens).toBe(500);
    expect(maker?.isForeignOrigin("messages")).toBe(false);
    expect(maker?.isForeignOrigin("bedrock")).toBe(true);
    expect(maker?.isForeignOrigin("no word of any host")).toBe(false);
  });

  test("an offer may be pinned to a dialect", () => {
    const pinned = made({ offers: [{ provider: "cloud", model: CLAUDE, dialect: "messages" }] });
    expect(textTargets(pinned).map(({ via }) => via)).toEqual(["messages"]);
    // A single offer is what most models have: nothing is made for a call, not even an array.
    const { targets, model, offers } = pinned;
    const candidates = targets.text(model, offers, "chat");
    expect(targets.text(model, offers, "chat")).toBe(candidates);
    expect(candidates.only(NO_PREFERENCE)?.targets).toBe(candidates.only(NO_PREFERENCE)?.targets ?? []);
  });

  test("whether offers answer conversations is known without asking for them", () => {
    const none = made({ offers: [{ provider: "cloud", model: NOVA, dialect: "messages" }] });
    expect([none.targets.serveText(none.offers), both.targets.serveText(both.offers)]).toEqual([false, true]);
  });

  test("one target is all there is: no plan need be made, unless names have to be checked", () => {
    const { targets, model, offers } = made({ offers: [{ provider: "maker", model: "m" }] });
    const candidates = targets.text(model, offers, "messages");
    expect(candidates.only(NO_PREFERENCE)?.explained).toBeUndefined();
    const why = [{ target: candidates.list[0]?.targets[0], why: "the only offer" }];
    for (const preference of [{ type: "round_robin" }, { fallback: "none" }] as const) {
      expect(candidates.only(preference)?.explained).toEqual(why as never);
    }
    expect(candidates.only({ providers: ["maker"] })).toBeUndefined();
    expect(candidates.only({ fallback: { provider: "maker" } })).toBeUndefined();
    expect(both.targets.text(both.model, both.offers, "chat").only(NO_PREFERENCE)).toBeUndefined();
  });

  test("a model that no provider serves as configured is not found", () => {
    const none = made({ offers: [{ provider: "cloud", model: NOVA, dialect: "messages" }] });
    expect(() => none.targets.text(none.model, none.offers, "chat")).toThrow(
      "None of the providers of acme/model (cloud) can serve it as configured.",
    );
  });
});

describe("choices 8: a provider with several credentials", () => {
  test("has the targets of each, next to each other", () => {
    const several = made({
      outputModalities: ["text", "image", "video"],
      offers: [
        { provider: "pair", model: "gpt-5" },
        { provider: "pair", model: "gpt-image-1" },
        { provider: "pair", model: "sora-2" },
      ],
    });
    const { targets, model, offers } = several;
    const found = textTargets(several).filter(({ offer, via }) => offer.upstreamModel === "gpt-5" && via === "chat");
    expect(found.map(({ credential, credentialWeight }) => [credential, credentialWeight])).toEqual([
      ["1", 1],
      ["second", 2],
    ]);
    expect(found[0]?.provider).not.toBe(found[1]?.provider);
    const labels = (all: readonly { credential: string }[]) => all.map(({ credential }) => credential);
    expect(labels(targets.images(model, offers))).toEqual(["1", "second"]);
    expect(labels(targets.videos(model, offers))).toEqual(["1", "second"]);
    const ids = [...targets.all()].map(({ id }) => id);
    expect(ids).toContain("acme/model pair gpt-5 chat second");
    expect(ids.filter((id) => id.includes("gpt-image-1"))).toHaveLength(6);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("a provider with one has no label", () => {
    expect(textTargets(both).every(({ credential }) => credential === "")).toBe(true);
    expect(textTargets(both)[0]?.id).toBe(`acme/model cloud ${CLAUDE} converse`);
  });
});

describe("candidates of conversations", () => {
  const found = ({ targets, model, offers }: ReturnType<typeof made>, dialect: string) =>
    targets
      .text(model, offers, dialect)
      .list.map(({ offer, targets: ways }) => [offer.provider, ways.map(({ via }) => via).join()]);

  test("one for each offer, in the client's own dialect where the provider speaks it", () => {
    expect(found(both, "messages")).toEqual([
      ["cloud", "messages"],
      ["maker", "messages"],
    ]);
  });

  test("in the best of the provider's own dialects where it does not", () => {
    expect(found(both, "chat")).toEqual([
      ["cloud", "converse"],
      ["maker", "messages"],
    ]);
  });

  test("are made once for each dialect, and once for each provider that is pinned", () => {
    const { targets, model, offers, catalogue } = both;
    expect(targets.text(model, offers, "chat")).not.toBe(targets.text(model, offers, "messages"));
    const pinned = () => targets.text(model, catalogue.resolve("acme/model:maker").offers, "chat");
    expect(pinned().list.map(({ offer }) => offer.provider)).toEqual(["maker"]);
    expect(pinned()).toBe(pinned());
    const other = targets.text(model, catalogue.resolve("acme/model:cloud").offers, "chat");
    expect(other.list.map(({ offer }) => offer.provider)).toEqual(["cloud"]);
    expect(targets.text(model, offers, "chat").list).toHaveLength(2);
  });

  test("turns are counted per model", () => {
    const { targets, model } = both;
    const other = made({ offers: [{ provider: "maker", model: "other" }] }).model;
    expect([targets.nextTurn(model), targets.nextTurn(other), targets.nextTurn(model)]).toEqual([0, 0, 1]);
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
    expect(found[0]?.adapter).toBe(only("painter")?.media?.images("gpt-image-1"));
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
    expect(targets.videos(model, offers)[0]?.adapter).toBe(only("painter")?.media?.videos("sora-2"));
  });

  test("a model that produces something else is rejected", () => {
    expect(() => both.targets.videos(both.model, both.offers)).toThrow("acme/model produces text, not videos.");
  });

  test("a model without a provider for its images is rejected", () => {
    const none = made({ outputModalities: ["image"], offers: [{ provider: "maker", model: "painter" }] });
    expect(() => none.targets.images(none.model, none.offers)).toThrow(
      "None of the providers of acme/model (maker) produces images with it.",
    );
  });
});
