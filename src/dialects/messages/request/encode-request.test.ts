import { describe, expect, test } from "bun:test";
import { encode, UNLIMITED } from "../call.sample.ts";

describe("the output limit, which this protocol requires", () => {
  const reported = ["approximated max_completion_tokens"];

  test.each([
    ["the client's", { maxOutputTokens: 100 }, {}, 100, []],
    ["the model's", {}, {}, 64000, []],
    ["none", {}, UNLIMITED, 4096, reported],
    [
      "above the model's",
      { maxOutputTokens: 99999, paths: { maxOutputTokens: "max_completion_tokens" } },
      {},
      64000,
      reported,
    ],
  ])("%s", (_name, call, traits, sent, notes) => {
    const result = encode(call, traits);
    expect(result.body["max_tokens"]).toBe(sent);
    expect(result.notes).toEqual(notes);
  });
});

describe("settings", () => {
  test("temperature is clamped and takes precedence over top_p", () => {
    const paths = { temperature: "temperature", topP: "top_p" };
    const { body, notes } = encode({ temperature: 1.7, topP: 0.5, paths });
    expect(body).toMatchObject({ temperature: 1 });
    expect(body["top_p"]).toBeUndefined();
    expect(notes).toEqual(["approximated temperature", "dropped top_p"]);
  });

  test("H09: settings without a field are noted", () => {
    const { body, notes } = encode({
      dialect: "genai",
      seed: 1,
      frequencyPenalty: 0.5,
      presencePenalty: 0,
      logprobs: 3,
      logitBias: { "1": 2 },
      candidateCount: 2,
      verbosity: "low",
      cachedContent: "c",
      paths: { seed: "generationConfig.seed" },
      extras: [{ keys: ["safetySettings"], value: [] }],
    });
    expect(Object.keys(body).toSorted()).toEqual(["max_tokens", "messages", "model"]);
    expect(notes.toSorted()).toEqual([
      "dropped cachedContent",
      "dropped candidateCount",
      "dropped frequencyPenalty",
      "dropped generationConfig.seed",
      "dropped logitBias",
      "dropped logprobs",
      "dropped safetySettings",
      "dropped verbosity",
    ]);
  });

  test("settings are dropped for models that reject sampling or stop sequences", () => {
    const traits = { rejectsSampling: true, rejectsStop: true };
    const { body, notes } = encode({ temperature: 1, stop: ["x"] }, traits);
    expect(body["temperature"] ?? body["stop_sequences"]).toBeUndefined();
    expect(notes).toEqual(["dropped temperature", "dropped stop"]);
    expect(encode({ stop: ["\n", "END"] })).toMatchObject({
      body: { stop_sequences: ["END"] },
      notes: ["dropped stop"],
    });
  });

  test("sends the caller's user and the cache mark of the whole prompt", () => {
    expect(encode({ userId: "u", cache: { ttl: "1h" } }).body).toMatchObject({
      metadata: { user_id: "u" },
      cache_control: { type: "ephemeral", ttl: "1h" },
    });
  });
});
