import { expect, test } from "bun:test";
import fc from "fast-check";
import { readMultipart } from "./read-multipart.ts";
import { type WrittenPart, writeMultipart } from "./write-multipart.ts";

const LIMITS = { maxParts: 50, maxFieldBytes: 10_000 };

test("H12: written forms are read back, with texts and files in order", async () => {
  const text = fc.record({ name: fc.constantFrom("prompt", "n", 'a "b"'), value: fc.string({ unit: "grapheme" }) });
  const file = fc.record({
    name: fc.constantFrom("image", "image[]", "mask"),
    fileName: fc.constantFrom("a.png", 'größe "1".png'),
    mimeType: fc.constant("image/png"),
    base64: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(text, file), { minLength: 1, maxLength: 8 }), async (parts: WrittenPart[]) => {
      const { contentType, body } = writeMultipart(parts, "cut-0a1b2c3d");
      const form = await readMultipart(body, contentType, LIMITS);
      const read = form.map((entry) => {
        if (!("bytes" in entry)) return entry;
        const { bytes, ...rest } = entry;
        return { ...rest, base64: Buffer.from(bytes).toString("base64") };
      });
      expect<unknown>(read).toEqual(parts);
    }),
  );
});

test("H12: other readers agree", async () => {
  const parts = [
    { name: "prompt", value: "ein größerer Fuchs 🦊" },
    { name: "image", fileName: "a.png", mimeType: "image/png", base64: "AAEC/w==" },
  ];
  const { contentType, body } = writeMultipart(parts, "cut");
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  expect(form.get("prompt")).toBe("ein größerer Fuchs 🦊");
  const image = form.get("image") as File;
  expect([image.name, image.type]).toEqual(["a.png", "image/png"]);
  expect(await image.bytes()).toEqual(new Uint8Array([0, 1, 2, 255]));
});
