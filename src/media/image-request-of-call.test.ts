import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import { decodeRequest as decodeChat } from "../dialects/chat/request/decode-request.ts";
import { decodeRequest as decodeGenai } from "../dialects/genai/request/decode-request.ts";
import { imageRequestOfCall } from "./image-request-of-call.ts";

const PNG = "iVBORw0KGgo=";
const TEXT = { text: "a fox" };
const genai = (parts: readonly object[], more: JsonObject = {}) => {
  const body = { contents: [{ role: "user", parts: [TEXT, ...parts] }], ...more };
  return imageRequestOfCall(decodeGenai(body), body);
};
const chat = (...messages: JsonObject[]) => imageRequestOfCall(decodeChat({ model: "acme/paint", messages }));
const say = (...content: JsonObject[]) => ({ role: "user", content: [{ type: "text", text: "a fox" }, ...content] });
const droppedOf = ({ notes }: { notes: readonly { path: string; action: string }[] }) =>
  notes.map(({ path, action }) => (action === "dropped" ? path : action));
const refusedAt = (ask: () => unknown): unknown => {
  try {
    ask();
  } catch (error) {
    if (error instanceof GatewayError) return [error.kind, error.path];
    throw error;
  }
  return "nothing was refused";
};

describe("H09: nothing of the last message is dropped without a note", () => {
  const file = { fileData: { fileUri: "gs://b/x.png", mimeType: "image/png" } };

  test("an image that cannot be read is rejected by its path", () => {
    expect(refusedAt(() => genai([file]))).toEqual(["invalid_request", "contents[0].parts[1]"]);
  });

  test("so is an image of the answer before it, where that is the one to edit", () => {
    const contents = [
      { role: "user", parts: [TEXT] },
      { role: "model", parts: [file] },
      { role: "user", parts: [{ text: "at night" }] },
    ];
    expect(refusedAt(() => imageRequestOfCall(decodeGenai({ contents })))).toEqual([
      "invalid_request",
      "contents[1].parts[0]",
    ]);
  });

  test("an image given by URL is fetched later", () => {
    const { links, inputPaths, notes } = genai([{ fileData: { fileUri: "https://example.com/a.png" } }]);
    expect(links).toEqual([{ url: "https://example.com/a.png", position: 0 }]);
    expect([inputPaths, notes]).toEqual([["contents[0].parts[1]"], []]);
  });

  const inlineData = (mimeType: string) => ({ inlineData: { mimeType, data: "JVBERi0xLjQK" } });
  const others: [string, () => ReturnType<typeof imageRequestOfCall>, string][] = [
    ["a document", () => genai([inlineData("application/pdf")]), "contents[0].parts[1]"],
    ["a document of text", () => genai([inlineData("text/plain")]), "contents[0].parts[1]"],
    ["a video", () => genai([inlineData("video/mp4")]), "contents[0].parts[1]"],
    ["the id of a file", () => chat(say({ type: "file", file: { file_id: "f" } })), "messages[0].content[1]"],
    [
      "sound",
      () => chat(say({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } })),
      "messages[0].content[1]",
    ],
    [
      "an image in an instruction",
      () => genai([], { systemInstruction: { parts: [{ text: "ink" }, inlineData("image/png")] } }),
      "systemInstruction.parts[1].inlineData",
    ],
  ];
  test.each(others)("%s is noted by its path", (_, ask, path) => {
    expect(droppedOf(ask())).toEqual([path]);
  });

  test("fields that the model receives are not noted", () => {
    const request = genai([inlineData("image/png")], {
      systemInstruction: { parts: [{ text: "ink" }] },
      generationConfig: { responseModalities: ["TEXT", "IMAGE"], imageConfig: { imageSize: "2K" } },
    });
    expect(request.notes).toEqual([]);
    expect(request.call).toMatchObject({ prompt: "ink\n\na fox", tier: "2K", inputs: [{ mimeType: "image/png" }] });
  });
});

describe("H09: nor of the messages before it", () => {
  test("the text of an answer is noted, its images are edited", () => {
    const url = `data:image/png;base64,${PNG}`;
    const images = [{ type: "image_url", image_url: { url } }];
    const later = { role: "user", content: "at night" };
    const wordless = chat(say(), { role: "assistant", content: "", images }, later);
    expect(droppedOf(wordless)).toEqual(["messages[0]"]);
    expect(wordless.call.inputs).toEqual([{ mimeType: "image/png", base64: PNG }]);
    const wordy = chat(say(), { role: "assistant", content: "here it is", images }, later);
    expect(droppedOf(wordy)).toEqual(["messages[0]", "messages[1].content"]);
    const textOnly = chat(say(), { role: "assistant", content: "what colour?" }, later);
    expect(droppedOf(textOnly)).toEqual(["messages[0]", "messages[1]"]);
  });

  test("an instruction in the middle is noted", () => {
    const request = chat(say(), { role: "system", content: "in ink" }, { role: "user", content: "at night" });
    expect(droppedOf(request)).toEqual(["messages[0]", "messages[1].content"]);
  });
});

describe("H09: nor of the settings", () => {
  test.each(["TEXT", "AUDIO", "TEXT AUDIO", "TEXT IMAGE AUDIO"])("responseModalities %s are noted", (asked) => {
    const request = genai([], { generationConfig: { responseModalities: asked.split(" ") } });
    expect(droppedOf(request)).toEqual(["generationConfig.responseModalities"]);
  });

  test("fields of imageConfig that the contract does not have are noted", () => {
    const imageConfig = {
      aspectRatio: "16:9",
      personGeneration: "ALLOW_NONE",
      imageOutputOptions: { mimeType: "image/jpeg", compressionQuality: 5, lossless: true },
    };
    const request = genai([], { generationConfig: { imageConfig } });
    expect(droppedOf(request)).toEqual([
      "generationConfig.imageConfig.personGeneration",
      "generationConfig.imageConfig.imageOutputOptions.lossless",
    ]);
    expect(request.call).toMatchObject({ aspectRatio: "16:9", outputMimeType: "image/jpeg", compression: 5 });
  });
});
