import { expect, test } from "bun:test";
import { promptTokens } from "../../canon/usage.ts";
import { decodeUsage } from "./usage.ts";

test("H36: details of cached tokens that contradict their total make no part of the prompt free", () => {
  const report = (details: object) => ({
    input_tokens: 1000,
    output_tokens: 10,
    input_token_details: {
      text_tokens: 100,
      audio_tokens: 700,
      image_tokens: 200,
      cached_tokens: 300,
      cached_tokens_details: details,
    },
  });
  const all = decodeUsage(report({ audio_tokens: 700, image_tokens: 200 })) ?? {};
  expect(all).toMatchObject({ input: 100, audioInput: 400, imageInput: 200, cacheRead: 300, cached: { audio: 300 } });
  for (const details of [{}, { audio_tokens: 250, image_tokens: 100 }, { text_tokens: 900 }, { image_tokens: 500 }])
    expect(promptTokens(decodeUsage(report(details)) ?? {})).toBeGreaterThanOrEqual(1000);
});
