import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../base/json.ts";
import type { ListRequest } from "../canon/listed-model.ts";
import { modelEntry } from "../dialects/chat/model-list.ts";
import { DIALECTS } from "../dialects/index.ts";
import { builtInModels } from "./built-in-models.ts";
import { pricingsAt } from "./days.ts";
import { listedModel } from "./listed-model.ts";
import { type Model, PRICE_NAMES, type PriceItem, type Pricings } from "./model.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");

const TIERED: Pricings = {
  prompt: [
    {
      value: 1,
      unit: "perMTokens",
      currency: "USD",
      conditions: { prompt_tokens: { unit: "kTokens", gte: 0, lt: 200 } },
    },
    {
      value: 2,
      unit: "perMTokens",
      currency: "USD",
      conditions: { prompt_tokens: { unit: "kTokens", gte: 200, lt: null } },
    },
  ],
};

const MODEL: Model = {
  id: "acme/llama",
  displayName: "Acme Llama",
  description: "A model.",
  created: "2026-01-02",
  contextLength: 131072,
  maxOutputTokens: 16384,
  inputModalities: ["text", "image"],
  outputModalities: ["text"],
  reasoning: true,
  kind: "text",
  traits: { rejectsSampling: true },
  priceNote: "For short prompts.",
  pricings: TIERED,
  offers: [{ provider: "hidden-provider", upstreamModel: "hidden-name", pricings: TIERED }],
};

const BARE: Model = {
  id: "acme/painter",
  displayName: "Painter",
  inputModalities: ["text"],
  outputModalities: ["image"],
  reasoning: false,
  kind: "image",
  pricings: {},
  offers: [],
};

const chatModelEntry = (model: Model) => modelEntry(listedModel(model));
const CONTRACT: ListRequest = { door: "contract", query: new URLSearchParams() };
const entryIn =
  (dialect: "messages" | "genai") =>
  (model: Model): JsonObject =>
    DIALECTS[dialect].http.models.entry(listedModel(model), "contract") as JsonObject;
const listIn =
  (dialect: "chat" | "messages" | "genai") =>
  (models: readonly Model[]): JsonObject =>
    DIALECTS[dialect].http.models.list(
      models.map((model) => listedModel(model)),
      CONTRACT,
    ) as JsonObject;
const [messagesModelEntry, genaiModelEntry] = [entryIn("messages"), entryIn("genai")];
const [chatModelList, messagesModelList, genaiModelList] = [listIn("chat"), listIn("messages"), listIn("genai")];

describe("contract 2.9: model-list entries have exactly these fields", () => {
  test("chat-completions", () => {
    expect(chatModelList([MODEL])).toEqual({
      object: "list",
      data: [
        {
          id: "acme/llama",
          object: "model",
          display_name: "Acme Llama",
          created: 1767312000,
          owned_by: "acme",
          input_modalities: ["text", "image"],
          output_modalities: ["text"],
          capabilities: { reasoning: true },
          context_length: 131072,
          pricings: MODEL.pricings,
        },
      ],
    });
  });

  test("messages", () => {
    expect(messagesModelList([MODEL])).toEqual({
      data: [
        {
          id: "acme/llama",
          type: "model",
          display_name: "Acme Llama",
          created_at: "2026-01-02",
          input_modalities: ["text", "image"],
          output_modalities: ["text"],
          capabilities: { reasoning: true },
          context_length: 131072,
          pricings: MODEL.pricings,
        },
      ],
      has_more: false,
    });
  });

  test("generative-content", () => {
    expect(genaiModelList([MODEL])).toEqual({
      models: [
        {
          name: "acme/llama",
          displayName: "Acme Llama",
          description: "A model. Prices: For short prompts.",
          inputTokenLimit: 131072,
          outputTokenLimit: 16384,
          thinking: true,
          inputModalities: ["text", "image"],
          outputModalities: ["text"],
          pricings: MODEL.pricings,
        },
      ],
    });
  });

  test("prices for which the contract has no name or no condition are not shown", () => {
    const perSecond = { value: 0.2, unit: "perSecond" as const, currency: "USD" as const };
    const perToken = { value: 8, unit: "perMTokens" as const, currency: "USD" as const };
    const pricings: Pricings = {
      prompt: MODEL.pricings.prompt ?? [],
      video: [perSecond, { ...perSecond, value: 0.4, resolution: "4k" }],
      audio_and_video: [{ ...perSecond, resolution: "1080p" }],
      image_input: [perToken],
    };
    const model: Model = {
      ...BARE,
      offers: [{ provider: "host", upstreamModel: "painter", pricings }],
    };
    const shown = { prompt: MODEL.pricings.prompt ?? [], video: [perSecond] };
    expect(chatModelEntry(model).pricings).toEqual(shown);
    expect(messagesModelEntry(model)["pricings"]).toEqual(shown);
    expect(genaiModelEntry(model)["pricings"]).toEqual(shown);
    expect(pricings.video).toHaveLength(2);
  });

  test("no built-in model shows a price that the contract has no name for", () => {
    const offered = builtInModels.map(
      (model): Model => ({
        ...model,
        offers: [{ provider: "host", upstreamModel: model.upstreamModel, pricings: pricingsAt(model.pricings, NOW) }],
      }),
    );
    const lists = [
      chatModelList(offered)["data"],
      messagesModelList(offered)["data"],
      genaiModelList(offered)["models"],
    ] as { pricings: Pricings }[][];
    const items: PriceItem[] = [];
    for (const { pricings } of lists.flat()) {
      expect(PRICE_NAMES).toEqual(expect.arrayContaining(Object.keys(pricings)));
      items.push(...Object.values(pricings).flatMap((list) => list ?? []));
    }
    expect(new Set(items.flatMap((item) => Object.keys(item)))).toEqual(
      new Set(["value", "unit", "currency", "conditions"]),
    );
    const priced = (list: readonly { pricings: Pricings }[]) =>
      list.filter(({ pricings }) => PRICE_NAMES.some((name) => pricings[name] !== undefined)).length;
    for (const list of lists) expect(priced(list)).toBe(priced(builtInModels));
    // Prices per character appear in the description.
    const bySound = builtInModels.filter(({ pricings }) => pricings.characters !== undefined);
    expect(bySound.every(({ priceNote }) => priceNote?.includes("characters"))).toBe(true);
  });

  test("unknown values are still an integer, a day and a text", () => {
    expect(chatModelEntry(BARE)).toMatchObject({ created: 0, context_length: 0, pricings: {} });
    expect(messagesModelEntry(BARE)).toMatchObject({ created_at: "1970-01-01", context_length: 0 });
    expect(genaiModelEntry(BARE)).toMatchObject({
      description: "Painter by acme: text in, image out.",
      inputTokenLimit: 0,
      outputTokenLimit: 0,
    });
  });
});

describe("contract 9: entries are labelled as retiring", () => {
  test.each([
    [undefined, "Retiring on 2026-12-01."],
    ["acme/next", "Retiring on 2026-12-01; acme/next takes its place."],
  ])("with the model that takes its place, where one is known: %s", (replacedBy, sentence) => {
    const model = { ...BARE, retiresOn: "2026-12-01", ...(replacedBy && { replacedBy }) };
    const label = "Painter (retiring 2026-12-01)";
    expect(chatModelEntry(model).display_name).toBe(label);
    expect(messagesModelEntry(model)["display_name"]).toBe(label);
    expect(genaiModelEntry(model)).toMatchObject({
      displayName: label,
      description: `Painter by acme: text in, image out. ${sentence}`,
    });
  });

  test("H63: the vendors' lists have the day in the vendors' own fields, and no day where none is fixed", () => {
    const query = new URLSearchParams();
    const listed = (dialect: "chat" | "messages", model: Model) =>
      DIALECTS[dialect].http.models.entry(listedModel(model), "dropin");
    const retiring = { ...BARE, retiresOn: "2026-12-01" };
    const staying = { ...BARE, retiresAfter: "2026-11-24" };
    expect(listed("chat", retiring)).toMatchObject({ shutdown_date: "2026-12-01" });
    expect(listed("chat", staying)).toMatchObject({ shutdown_date: null });
    expect(listed("messages", retiring)).toMatchObject({ lifecycle: "deprecated", retires_at: "2026-12-01T00:00:00Z" });
    expect(listed("messages", staying)).toMatchObject({ lifecycle: "active", retires_at: null });
    expect(DIALECTS.chat.http.models.list([listedModel(retiring)], { door: "contract", query })).not.toHaveProperty(
      "data.0.shutdown_date",
    );
  });
});
