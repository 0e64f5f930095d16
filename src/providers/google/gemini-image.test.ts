import { describe, expect, test } from "bun:test";
import {
  adapterContext,
  imageCall,
  JPEG,
  jsonOf,
  mediaAnswer,
  PNG,
  thrownBy,
} from "../media-adapters/media-calls.sample.ts";
import { geminiImage } from "./gemini-image.ts";
import { recordedAnswer, recordingsThere } from "./recordings.sample.ts";

const gemini = geminiImage({ name: "gemini", models: () => "/v1beta/models" });
const vertex = geminiImage({ name: "vertex", models: () => "/v1/publishers/google/models" });
const PRO = "gemini-3-pro-image";
const read = (body: Parameters<typeof mediaAnswer>[0]) =>
  gemini.readSubmit(mediaAnswer(body), imageCall(), adapterContext(PRO));
const replyOf = (state: ReturnType<typeof read>) => (state.state === "done" ? state.reply : undefined);
const imagePart = { inlineData: { mimeType: "image/png", data: PNG.base64 } };
const answer = (parts: unknown[], more: object = {}) => ({
  candidates: [{ content: { parts }, finishReason: "STOP", ...more }],
});

describe("providers 2.3: requests for an image to a model that also answers with text", () => {
  const full = {
    aspectRatio: "21:9",
    tier: "4K" as const,
    seed: 9,
    personGeneration: "dont_allow",
    outputMimeType: "image/jpeg",
    compression: 70,
    inputs: [PNG, JPEG],
    extras: { anything: 1 },
  };

  test("everything that Vertex takes, inputs before the text", () => {
    const request = vertex.submit(imageCall(full), adapterContext(PRO));
    expect(request).toMatchObject({ method: "POST", url: `/v1/publishers/google/models/${PRO}:generateContent` });
    expect(jsonOf(request)).toEqual({
      contents: [
        {
          role: "user",
          parts: [imagePart, { inlineData: { mimeType: "image/jpeg", data: JPEG.base64 } }, { text: "a red fox" }],
        },
      ],
      generationConfig: {
        responseModalities: ["TEXT", "IMAGE"],
        seed: 9,
        imageConfig: {
          aspectRatio: "21:9",
          imageSize: "4K",
          personGeneration: "ALLOW_NONE",
          outputMimeType: "image/jpeg",
          outputCompressionQuality: 70,
        },
      },
    });
  });

  test("the Gemini API refuses the fields of the newer host", () => {
    expect(jsonOf(gemini.submit(imageCall(full), adapterContext(PRO)))["generationConfig"]).toEqual({
      responseModalities: ["TEXT", "IMAGE"],
      seed: 9,
      imageConfig: { aspectRatio: "21:9", imageSize: "4K" },
    });
  });

  test.each([
    [PRO, { imageSize: "1K" }],
    ["gemini-2.5-flash-image", {}],
  ])("the smallest one: %s gets its level where it has several", (model, imageConfig) => {
    expect(jsonOf(gemini.submit(imageCall(), adapterContext(model)))).toEqual({
      contents: [{ role: "user", parts: [{ text: "a red fox" }] }],
      generationConfig: { responseModalities: ["TEXT", "IMAGE"], imageConfig },
    });
  });

  test("capabilities by generation and host", () => {
    expect(gemini.capabilities(PRO)).toMatchObject({ maxCount: 4, perCall: 1, maxInputs: 14, mask: false });
    expect(gemini.capabilities(PRO).sizes).toMatchObject({ kind: "ratio", tiers: ["1K", "2K", "4K"] });
    expect(gemini.capabilities("gemini-2.5-flash-image").sizes).toMatchObject({ kind: "ratio", tiers: [] });
    expect([gemini, vertex].map((adapter) => adapter.capabilities(PRO).takes.includes("personGeneration"))).toEqual([
      false,
      true,
    ]);
    expect([gemini, vertex].map((adapter) => adapter.capabilities(PRO).compresses)).toEqual([false, true]);
  });

  test("only models that make images are served", () => {
    const models = [PRO, "gemini-3.1-flash-image", "gemini-2.5-flash", "imagen-4.0-generate-001"];
    expect(models.filter(gemini.serves)).toEqual([PRO, "gemini-3.1-flash-image"]);
  });
});

describe("providers 2.3: answers", () => {
  test("the first image is the answer; drafts among the thoughts, and text, are not", () => {
    const draft = { thought: true, inlineData: { mimeType: "image/jpeg", data: JPEG.base64 } };
    expect(read(answer([draft, { text: "Here it is." }, { ...imagePart, thoughtSignature: "c2ln" }]))).toEqual({
      state: "done",
      reply: { results: [{ kind: "made", image: PNG }] },
    });
  });

  test("image tokens are counted separately from text tokens, and none twice", () => {
    const usageMetadata = {
      promptTokenCount: 300,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 42 },
        { modality: "IMAGE", tokenCount: 258 },
      ],
      candidatesTokenCount: 1150,
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1120 }],
      thoughtsTokenCount: 80,
    };
    expect(replyOf(read({ ...answer([imagePart]), usageMetadata }))?.usage).toEqual({
      input: 300,
      output: 30,
      imageOutput: 1120,
      reasoning: 80,
      images: 1,
    });
  });

  test("where a host does not separate tokens, they are billed as the image's, if there is one", () => {
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 1290 };
    expect(replyOf(read({ ...answer([imagePart]), usageMetadata }))?.usage).toEqual({
      input: 10,
      output: 0,
      imageOutput: 1290,
      images: 1,
    });
    expect(replyOf(read({ ...answer([{ text: "No." }]), usageMetadata }))?.usage).toEqual({
      input: 10,
      output: 1290,
      images: 0,
    });
  });

  test.each([
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "NO_IMAGE",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
    "SAFETY",
    "FINISH_REASON_PROHIBITED_CONTENT",
  ])("finish reason %s is a blocked image", (finishReason) => {
    expect(replyOf(read(answer([], { finishReason })))?.results).toEqual([
      { kind: "filtered", reason: `The provider blocked the image (${finishReason}).` },
    ]);
    expect(replyOf(read(answer([], { finishReason, finishMessage: "Too much." })))?.results).toEqual([
      { kind: "filtered", reason: "Too much." },
    ]);
  });

  test.each([
    [answer([{ text: "I would rather not." }]), "The model returned text instead of an image: I would rather not."],
    [answer([], { finishReason: "MAX_TOKENS" }), "The model did not generate an image (MAX_TOKENS)."],
  ])("no image and no block is a failure of that image %#", (body, message) => {
    const [result] = replyOf(read(body))?.results ?? [];
    expect(result).toMatchObject({ kind: "failed", error: { kind: "upstream_failed", message } });
  });

  test("a refused prompt refuses the whole request", () => {
    expect(thrownBy(() => read({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }))).toEqual({
      kind: "content_blocked",
      message: "The provider rejected the prompt (PROHIBITED_CONTENT).",
    });
  });

  test.each([["{}"], ["<html>"], ['{"candidates":[]}']])("garbage: %s", (text) => {
    expect(thrownBy(() => read(text))).toMatchObject({ kind: "upstream_failed" });
  });
});

test.skipIf(!recordingsThere)("a recorded answer: image, thoughts and searches", () => {
  const file = "gemini-images/google/pydantic-ai.google-image-generation-with-web-search.response.json";
  const reply = replyOf(gemini.readSubmit(recordedAnswer(file), imageCall(), adapterContext(PRO)));
  expect(reply?.results).toMatchObject([{ kind: "made", image: { mimeType: "image/jpeg" } }]);
  expect(reply?.usage).toMatchObject({ input: 33, output: 660, imageOutput: 1120, reasoning: 529, images: 1 });
});
