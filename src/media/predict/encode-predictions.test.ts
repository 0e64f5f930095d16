import { describe, expect, spyOn, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { GoogleGenAI as OlderGenAI } from "genai-1";
import { GatewayError } from "../../canon/error.ts";
import type { DeliveredImage } from "../delivered-image.ts";
import type { ImageReply } from "../image-reply.ts";
import { encodePredictions } from "./encode-predictions.ts";

const reply: ImageReply<DeliveredImage> = {
  results: [
    { kind: "made", image: { mimeType: "image/png", base64: "iVBORw==" }, revisedPrompt: "a red fox" },
    { kind: "made", image: { mimeType: "image/jpeg", url: "https://gateway.example/files/1" } },
    { kind: "filtered", reason: "The image was blocked." },
    { kind: "failed", error: new GatewayError("upstream_timeout", "The provider took too long.") },
  ],
};

describe("contract 2.5: the answer of predict", () => {
  test("returns one element for each requested image", () => {
    expect(encodePredictions(reply)).toEqual({
      predictions: [
        { bytesBase64Encoded: "iVBORw==", mimeType: "image/png", prompt: "a red fox" },
        { gcsUri: "https://gateway.example/files/1", mimeType: "image/jpeg" },
        { raiFilteredReason: "The image was blocked." },
        { error: { code: 504, message: "The provider took too long.", status: "DEADLINE_EXCEEDED" } },
      ],
    });
  });

  test.each([
    ["2", GoogleGenAI],
    ["1", OlderGenAI],
  ] as const)("@google/genai %s reads the images that were made and those that were not", async (_, Client) => {
    const quiet = spyOn(console, "warn").mockImplementation(() => {});
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(encodePredictions(reply)) });
    const httpOptions = { baseUrl: server.url.href, apiVersion: "v1" };
    const client = new Client({ vertexai: true, apiKey: "key", httpOptions });
    const { generatedImages = [] } = await client.models.generateImages({ model: "acme/paint", prompt: "a fox" });
    quiet.mockRestore();
    expect(generatedImages).toHaveLength(4);
    expect(generatedImages[0]).toMatchObject({
      image: { imageBytes: "iVBORw==", mimeType: "image/png" },
      enhancedPrompt: "a red fox",
    });
    expect(generatedImages[1]?.image?.gcsUri).toBe("https://gateway.example/files/1");
    expect(generatedImages[2]?.raiFilteredReason).toBe("The image was blocked.");
    expect(generatedImages[3]?.image?.imageBytes).toBeUndefined();
  });
});
