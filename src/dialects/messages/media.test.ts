import { describe, expect, test } from "bun:test";
import type { Part } from "../../canon/part.ts";
import { encode, messagesOf, say, user } from "./call.sample.ts";
import type { MessagesQuirks } from "./quirks.ts";

describe("media", () => {
  const media = (part: Partial<Extract<Part, { type: "media" }>>): Part =>
    ({ type: "media", kind: "document", path: "m", ...part }) as Part;
  const data = (mimeType: string, text: string) => ({ type: "data", mimeType, data: btoa(text) }) as const;

  test.each([
    ["an image", media({ kind: "image", source: data("image/jpg", "x") }), "image", { media_type: "image/jpeg" }],
    ["an image in a file", media({ source: data("image/webp", "x") }), "image", { media_type: "image/webp" }],
    ["a PDF", media({ source: data("application/pdf", "x"), title: "T" }), "document", { type: "base64" }],
    [
      "a text file",
      media({ source: data("text/csv; charset=utf-8", "a,b") }),
      "document",
      { type: "text", data: "a,b" },
    ],
    ["JSON", media({ source: data("application/json", "{}") }), "document", { type: "text", media_type: "text/plain" }],
    ["a URL", media({ kind: "image", source: { type: "url", url: "https://a" } }), "image", { type: "url" }],
  ])("%s", (_name, part, type, source) => {
    const result = encode({ turns: [user(part)] });
    expect(messagesOf(result)[0]?.content).toMatchObject([{ type, source }]);
    expect(result.notes).toEqual([]);
  });

  test.each([
    ["audio", media({ kind: "audio", source: data("audio/wav", "x") }), {}],
    ["video", media({ kind: "video", source: data("video/mp4", "x") }), {}],
    ["a bitmap", media({ kind: "image", source: data("image/bmp", "x") }), {}],
    ["a spreadsheet", media({ source: data("application/vnd.ms-excel", "x") }), {}],
    ["a file of another provider", media({ source: { type: "file", id: "f", origin: "genai" } }), {}],
    [
      "a URL that is not fetched",
      media({ kind: "image", source: { type: "url", url: "https://a" } }),
      { mediaUrls: [] },
    ],
    [
      "a kind that the host does not accept",
      media({ source: data("application/pdf", "x") }),
      { media: ["image"] as const },
    ],
  ])("%s is dropped, with a note", (_name, part, quirks) => {
    const result = encode({ turns: [user(say("see"), part)] }, {}, quirks as Partial<MessagesQuirks>);
    expect(messagesOf(result)[0]?.content).toEqual([{ type: "text", text: "see" }]);
    expect(result.notes).toEqual(["dropped m"]);
  });
});
