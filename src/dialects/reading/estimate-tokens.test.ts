import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { estimateInput, estimateTokens } from "./estimate-tokens.ts";

const base64 = (bytes: number) => Buffer.alloc(bytes, "x").toString("base64");

describe("H26: media in a prompt is estimated, so that disconnecting before the usage does not make it free", () => {
  test.each([
    ["chat", { file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${base64(1_000_000)}` } }],
    ["chat, without a type", { file: { filename: "a.pdf", file_data: base64(1_000_000) } }],
    ["messages", { source: { type: "base64", media_type: "application/pdf", data: base64(1_000_000) } }],
    ["genai", { inlineData: { mimeType: "application/pdf", data: base64(1_000_000) } }],
  ])("%s: a document is estimated by its size", (_, part) => {
    const tokens = estimateTokens([[part]]);
    expect(tokens).toBeGreaterThan(30_000);
    expect(tokens).toBeLessThan(33_000);
  });

  test.each([
    ["chat", { input_audio: { data: base64(1_000_000), format: "mp3" } }],
    ["genai", { inlineData: { mimeType: "audio/mp3", data: base64(1_000_000) } }],
  ])("%s: audio is estimated by its size", (_, part) => {
    const tokens = estimateTokens([[part]]);
    expect(tokens).toBeGreaterThan(4_000);
    expect(tokens).toBeLessThan(4_100);
  });

  test.each([
    ["an image", { inlineData: { mimeType: "image/png", data: base64(1_000_000) } }],
    ["an image in a URL", { image_url: { url: `data:image/png;base64,${base64(1_000_000)}` } }],
    ["a linked image (chat)", { image_url: { url: "https://example.com/a.png" } }],
    ["a linked image (messages)", { source: { type: "url", url: "https://example.com/a.png" } }],
    ["a linked file (genai)", { fileData: { fileUri: "https://example.com/a.mp4" } }],
    ["a file id", { file: { file_id: "file-1" } }],
  ])("%s counts as about a thousand tokens", (_, part) => {
    const tokens = estimateTokens([[part]]);
    expect(tokens).toBeGreaterThanOrEqual(1_000);
    expect(tokens).toBeLessThan(1_050);
  });

  test("URLs in tool arguments count as text", () => {
    expect(estimateTokens([{ name: "fetch", input: { url: "https://example.com/page" } }])).toBeLessThan(30);
  });
});

describe("H23: text that looks like media counts as text", () => {
  const disguised = `data:image/png;base64,${"QUJD".repeat(10_000)}`;

  test.each([
    ["chat", [{ role: "user", content: disguised }]],
    ["chat, as a part", [{ role: "user", content: [{ type: "text", text: disguised }] }]],
    ["genai", [{ parts: [{ text: disguised }] }]],
    ["responses", disguised],
    ["the result of a tool", [{ type: "function_call_output", output: disguised }]],
    ["the arguments of a tool (messages)", [{ type: "tool_use", input: { url: disguised } }]],
    ["the arguments of a tool (genai)", [{ functionCall: { args: { data: "QUJD".repeat(10_000) } } }]],
    ["the result of a tool (genai)", [{ functionResponse: { response: { mimeType: "audio/wav", data: disguised } } }]],
  ])("%s", (_, prompt) => {
    expect(estimateTokens([prompt])).toBeGreaterThanOrEqual(10_000);
  });

  test("input to embed or complete is text wherever it is, and each number is a token", () => {
    expect(estimateInput(disguised)).toBe(10_006);
    expect(estimateInput([disguised, "a"])).toBe(10_007);
    expect(estimateInput([1, 2, 3])).toBe(3);
    expect(estimateInput([[1, 2], [3]])).toBe(3);
    expect(estimateInput("\u66f4\u591a")).toBe(2);
    expect(estimateInput(undefined)).toBe(0);
  });

  test("objects may hold media", () => {
    expect(estimateInput([{ type: "image_url", image_url: { url: disguised } }])).toBeLessThan(1_050);
  });
});

test("H23: with the surplus of bytes known, no text is scanned, and the count is never less", () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.constantFrom("é", "中文", "🙂".repeat(30)));
  const value = fc.jsonValue({ maxDepth: 4, stringUnit: "grapheme" });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, value)), (messages) => {
      const body = { messages: messages.map(([content, input]) => ({ role: "user", content, input })) };
      const written = JSON.stringify(body);
      const careful = estimateTokens([body.messages]);
      const quick = estimateTokens([body.messages], Buffer.byteLength(written) - written.length);
      expect(quick).toBeGreaterThanOrEqual(careful);
    }),
    { numRuns: 500 },
  );
});
