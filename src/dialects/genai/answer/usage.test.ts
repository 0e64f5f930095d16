import { describe, expect, test } from "bun:test";
import { decodeUsage } from "./usage.ts";

const read = (usageMetadata: object) => decodeUsage({ usageMetadata });

describe("H27: a total larger than its parts counts as generated", () => {
  test.each([
    [
      "next to an output count",
      { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 5000 },
      { output: 5, reasoning: 4985 },
    ],
    ["without an output count", { promptTokenCount: 10, totalTokenCount: 40 }, { output: 30 }],
    [
      "next to thoughts",
      { promptTokenCount: 10, thoughtsTokenCount: 20, totalTokenCount: 40 },
      { output: 10, reasoning: 20 },
    ],
    [
      "equal to its parts",
      { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 20, totalTokenCount: 35 },
      { output: 5, reasoning: 20 },
    ],
    ["of only a prompt: counts of 0 are omitted", { promptTokenCount: 10, totalTokenCount: 10 }, { output: 0 }],
  ])("%s", (_, reported, generated) => {
    expect(read(reported)).toEqual({ input: 10, ...generated });
  });

  test("tool-use prompt tokens are part of the total", () => {
    const reported = {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 90,
      candidatesTokenCount: 5,
      totalTokenCount: 105,
    };
    expect(read(reported)).toEqual({ input: 100, output: 5, rounds: 2 });
  });

  test("usage without an output count and a total is not an empty response", () => {
    expect(read({ promptTokenCount: 10 })).toEqual({ input: 10 });
  });
});

test("decision 0083: tokens of a generated video are an unknown counter, those of the prompt are not", () => {
  const usage = read({
    promptTokenCount: 10,
    promptTokensDetails: [{ modality: "VIDEO", tokenCount: 8 }],
    candidatesTokenCount: 50,
    candidatesTokensDetails: [{ modality: "VIDEO", tokenCount: 40 }],
    totalTokenCount: 60,
  });
  expect(usage).toEqual({ input: 10, output: 50, unknown: ["usageMetadata.candidatesTokensDetails.VIDEO.tokenCount"] });
});

describe("H36, H38: a token counts once", () => {
  const details = (modality: string, tokenCount: number) => [{ modality, tokenCount }];

  test("cached audio does not count as audio again", () => {
    const usage = read({
      promptTokenCount: 100,
      promptTokensDetails: details("AUDIO", 80),
      cachedContentTokenCount: 60,
      cacheTokensDetails: details("AUDIO", 60),
      totalTokenCount: 100,
    });
    expect(usage).toEqual({ input: 20, audioInput: 20, cacheRead: 60, cached: { audio: 60 }, output: 0 });
  });

  test("also if the cache does not report its modalities", () => {
    const usage = read({
      promptTokenCount: 100,
      promptTokensDetails: details("AUDIO", 80),
      cachedContentTokenCount: 60,
      totalTokenCount: 100,
    });
    expect(usage).toEqual({ input: 0, audioInput: 40, cacheRead: 60, output: 0 });
  });

  test("a cached count larger than the prompt is kept", () => {
    expect(
      read({ promptTokenCount: 7, cachedContentTokenCount: 163, candidatesTokenCount: 1, totalTokenCount: 8 }),
    ).toEqual({ input: 0, cacheRead: 163, output: 1 });
  });
});
