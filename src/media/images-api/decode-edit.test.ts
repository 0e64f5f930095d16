import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import FourthOpenAI from "openai-4";
import FifthOpenAI from "openai-5";
import { GatewayError } from "../../canon/error.ts";
import { type Form, readMultipart } from "../../wire/read-multipart.ts";
import { decodeEdit } from "./decode-edit.ts";

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const LIMITS = { maxParts: 40, maxFieldBytes: 64_000 };
const file = (name: string) => ({ name, fileName: "a.png", mimeType: "application/octet-stream", bytes: PNG });
const field = (name: string, value: string) => ({ name, value });
const FORM: Form = [field("model", "acme/paint"), field("prompt", "a fox"), file("image")];
const refused = (...more: Form): { path: string | undefined; message: string } => {
  try {
    decodeEdit([...FORM, ...more]);
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "invalid_request")
      return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("H12: a form is typed", () => {
  test("numbers and booleans, with the parts in any order", () => {
    const request = decodeEdit([
      file("image[]"),
      field("stream", "True"),
      field("n", "2"),
      field("partial_images", "3"),
      field("output_format", "jpeg"),
      field("output_compression", "0"),
      field("seed", "-1"),
      field("guidance_scale", "2.5"),
      field("size", ""),
      file("mask"),
      field("model", "acme/paint"),
      field("prompt", "a fox"),
      field("user", "123"),
      file("image[]"),
    ]);
    expect(request).toMatchObject({
      edit: true,
      stream: true,
      partialImages: 3,
      inputPaths: ["image[]", "image[]"],
      notes: [],
    });
    const base64 = Buffer.from(PNG).toString("base64");
    expect(request.call).toEqual({
      prompt: "a fox",
      count: 2,
      outputMimeType: "image/jpeg",
      compression: 0,
      seed: -1,
      guidanceScale: 2.5,
      inputs: Array.from({ length: 2 }, () => ({ mimeType: "application/octet-stream", base64 })),
      mask: { mimeType: "application/octet-stream", base64 },
      extras: { user: "123" },
    });
  });

  const wrong: [Form, string, string][] = [
    [[field("n", "two")], "n", 'an integer of at least 1; it is "two"'],
    [[field("n", "1e3")], "n", '"1e3"'],
    [[field("n", "0")], "n", "it is 0"],
    [[field("stream", "yes")], "stream", "true or false"],
    [[field("output_compression", "1.5")], "output_compression", "it is 1.5"],
    [[field("n", "1"), field("n", "2")], "n", "more than once"],
    [[file("quality")], "quality", "must be text"],
    [[file("mask"), file("mask")], "mask", "second mask"],
    [[{ ...file("image[]"), bytes: new Uint8Array() }], "image[]", "empty"],
  ];
  test.each(wrong)("%j is rejected by the name of its field", (more, path, words) => {
    const error = refused(...more);
    expect(error.path).toBe(path);
    expect(error.message).toContain(words);
  });

  test("an edit needs an image", () => {
    expect(() => decodeEdit([field("model", "a/b"), field("prompt", "x")])).toThrow("image must be the image to edit");
  });
});

describe("contract 4: forms as SDKs write them (sdks 3.3)", () => {
  const sdks = [
    ["4", FourthOpenAI as unknown as typeof OpenAI],
    ["5", FifthOpenAI as unknown as typeof OpenAI],
    ["7", OpenAI],
  ] as const;
  test.each(sdks)("openai %s", async (_, Client) => {
    const requests: ReturnType<typeof decodeEdit>[] = [];
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const type = request.headers.get("content-type") ?? "";
        requests.push(decodeEdit(await readMultipart(await request.bytes(), type, LIMITS)));
        return Response.json({ created: 1, data: [] });
      },
    });
    const client = new Client({ apiKey: "key", baseURL: server.url.href, maxRetries: 0 });
    const image = (name: string) => new File([PNG], name, { type: "image/png" });
    await client.images.edit({
      model: "acme/paint",
      prompt: "grün",
      image: image("a.png"),
      mask: image("m.png"),
      n: 2,
    });
    await client.images.edit({
      model: "acme/paint",
      prompt: "x",
      image: [image("a.png"), image("b.png")],
      size: "auto",
    });
    expect(requests[0]).toMatchObject({
      call: { prompt: "grün", count: 2, mask: { mimeType: "image/png" } },
      inputPaths: ["image"],
    });
    expect(requests[1]).toMatchObject({ call: { size: "auto", count: 1 }, inputPaths: ["image[]", "image[]"] });
  });
});
