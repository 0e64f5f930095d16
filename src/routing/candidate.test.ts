import { describe, expect, test } from "bun:test";
import type { ModelKind, Pricings } from "../catalogue/model.ts";
import { candidatesOf } from "./candidate.ts";
import { sampleCandidates, sampleTargets } from "./plan.sample.ts";

describe("choices 6: the price by which offers are compared", () => {
  const priced = (kind: ModelKind, pricings: Pricings) =>
    sampleCandidates([{ provider: "a", pricings }], { kind })[0]?.price;
  const usd = (value: number, unit: "perMTokens" | "perCount" | "perSecond" = "perMTokens") => ({
    value,
    unit,
    currency: "USD" as const,
  });

  test("of text: prompt and completion", () => {
    const prompt = [usd(1.5)];
    expect(priced("text", { prompt, completion: [usd(0.125)] })).toEqual({
      usd: 1.625,
      words: "$1.50 + $0.125 per million tokens",
    });
    expect(priced("text", { prompt })).toBeUndefined();
    expect(priced("text", { completion: prompt })).toBeUndefined();
  });

  test("of tiers the one without conditions, else the first", () => {
    const large = { ...usd(9), conditions: { prompt_tokens: { unit: "kTokens" as const, gt: 200 } } };
    expect(priced("text", { prompt: [large, usd(3)], completion: [usd(4)] })?.usd).toBe(7);
    expect(priced("text", { prompt: [large], completion: [usd(4), usd(5)] })?.usd).toBe(13);
  });

  test("of images one image, or a million tokens; of videos a second", () => {
    const high = { ...usd(0.5, "perCount"), resolution: "4K" };
    const prompt = [usd(8)];
    expect(priced("image", { prompt, completion: prompt, image: [high, usd(0.04, "perCount")] })).toEqual({
      usd: 0.04,
      words: "$0.04 each",
    });
    expect(priced("image", { image: [usd(40)] })?.words).toBe("$40.00 per million tokens");
    expect(priced("image", { prompt })).toBeUndefined();
    expect(priced("video", { video: [usd(0.1, "perSecond")], audio_and_video: [usd(0.2, "perSecond")] })?.words).toBe(
      "$0.10 per second",
    );
    expect(priced("video", { image: prompt, audio_and_video: [usd(0.2, "perSecond")] })?.usd).toBe(0.2);
    expect(priced("video", { image: prompt })).toBeUndefined();
  });
});

describe("candidates", () => {
  test("of each credential there is one target, in the client's dialect where there is one", () => {
    const credentials = { "1": 1, "2": 1 };
    const [one, two] = sampleTargets([{ provider: "a", credentials }]);
    if (one === undefined || two === undefined) throw new Error("two credentials make two targets");
    const targets = [one, two, { ...one, via: "messages" }, { ...two, via: "genai" }];
    const found = (dialect?: string) =>
      candidatesOf(targets, dialect).map((candidate) =>
        candidate.targets.map(({ credential, via }) => credential + via),
      );
    expect(found("messages")).toEqual([["1messages", "2chat"]]);
    expect(found("genai")).toEqual([["1chat", "2genai"]]);
    expect(found()).toEqual([["1chat", "2chat"]]);
  });

  test("two offers of one provider are two candidates", () => {
    expect(sampleCandidates([{ provider: "a" }, { provider: "a" }])).toHaveLength(2);
  });
});
