import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type ArrivingEntry, readArrivingForm } from "./arriving-form.ts";
import { readMultipart } from "./read-multipart.ts";

const LIMITS = { maxParts: 8, maxFieldBytes: 64 };
const TYPE = 'multipart/form-data; boundary="xyz"';

async function* split(body: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    if (at >= body.length) return;
    yield body.subarray(at, at + size);
    at += size;
  }
  if (at < body.length) yield body.subarray(at);
}

async function whole(entries: AsyncIterable<ArrivingEntry>): Promise<unknown[]> {
  const read: unknown[] = [];
  for await (const entry of entries) {
    if ("value" in entry) {
      read.push(entry);
      continue;
    }
    const { content, ...head } = entry;
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    read.push({ ...head, bytes: Buffer.concat(chunks).toString("latin1") });
  }
  return read;
}

const settled = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return await work;
  } catch (error) {
    return String(error);
  }
};

/** Content that is full of the beginnings of boundaries. */
const tricky = fc
  .array(fc.constantFrom("\r", "\n", "\r\n", "-", "--", "--xyz", "\r\n--xy", "\r\n--xyzz", "x", " ", "é"), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));

const part = fc.tuple(fc.boolean(), tricky).map(([isFile, content]) => {
  const file = isFile ? '; filename="a.bin"\r\nContent-Type: application/pdf' : "";
  return `--xyz\r\nContent-Disposition: form-data; name="field"${file}\r\n\r\n${content}\r\n`;
});

describe("a form that is still arriving", () => {
  test("reads the same as a complete form, however its bytes are split", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 4 }),
        fc.constantFrom("--xyz--\r\n", "--xyz--", "--xyz", "--xyz-", ""),
        fc.constantFrom("", "preamble\r\n"),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 60 }),
        async (parts, end, preamble, sizes) => {
          const body = Buffer.from(preamble + parts.join("") + end);
          const expected = await settled(
            readMultipart(body, TYPE, LIMITS).then((form) =>
              form.map((entry) =>
                "bytes" in entry ? { ...entry, bytes: Buffer.from(entry.bytes).toString("latin1") } : entry,
              ),
            ),
          );
          expect(await settled(whole(readArrivingForm(split(body, sizes), TYPE, LIMITS)))).toEqual(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("skips content that its reader leaves, and closes its source when the reader stops", async () => {
    let isClosed = false;
    async function* body(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('--xyz\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\nlong');
        yield Buffer.from(' content\r\n--xyz\r\nContent-Disposition: form-data; name="b"\r\n\r\nvalue\r\n--xyz--');
        yield Buffer.from("epilogue");
      } finally {
        isClosed = true;
      }
    }
    const names: string[] = [];
    for await (const entry of readArrivingForm(body(), TYPE, LIMITS)) {
      names.push(entry.name);
      if (entry.name === "b") break;
    }
    expect(names).toEqual(["a", "b"]);
    expect(isClosed).toBe(true);
  });

  test("S17: holds no more than a chunk of a large file", async () => {
    const chunk = Buffer.alloc(64 * 1024, "x");
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('--xyz\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n');
      for (let sent = 0; sent < 512; sent++) yield chunk;
      yield Buffer.from("\r\n--xyz--");
    }
    let largest = 0;
    let size = 0;
    for await (const entry of readArrivingForm(body(), TYPE, LIMITS)) {
      if ("value" in entry) continue;
      for await (const piece of entry.content) {
        largest = Math.max(largest, piece.length);
        size += piece.length;
      }
    }
    expect(size).toBe(512 * chunk.length);
    expect(largest).toBeLessThan(2 * chunk.length);
  });
});
