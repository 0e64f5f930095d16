import { expect, test } from "bun:test";
import fc from "fast-check";
import { ChunkedBody } from "./chunked-body.ts";

/** Decodes a body that arrives in reads of these sizes. */
function decode(text: string, sizes: readonly number[] = [text.length]) {
  let content = "";
  let excess = 0;
  const body = new ChunkedBody({ excess: (count) => (excess += count) });
  for (let at = 0, read = 0; at < text.length && !body.done; read++) {
    const size = Math.max(1, sizes[read % sizes.length] ?? 1);
    const bytes = Uint8Array.from(Buffer.from(text.slice(at, at + size), "latin1"));
    content += Buffer.from(body.push(bytes)).toString("latin1");
    at += size;
  }
  return { content, done: body.done, excess };
}

test("accepts sizes in either case, leading zeros, extensions, padding and trailers", () => {
  const text = '3\r\nabc\r\n0A;name="a;b"\r\n0123456789\r\n2 \t\r\nde\r\n000;x\r\nTrailer: one\r\nother: two\r\n\r\n';
  expect(decode(text)).toEqual({ content: "abc0123456789de", done: true, excess: 0 });
  expect(decode(`${text}HTTP/1.1`)).toEqual({ content: "abc0123456789de", done: true, excess: 8 });
});

test("any content decodes the same in any chunks and reads; a truncated body is never done", () => {
  const chunk = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), fc.array(fc.nat({ max: 30 }), { minLength: 1 }), (chunks, sizes) => {
      const text = `${chunks.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`).join("")}0\r\n\r\n`;
      expect(decode(text, sizes)).toEqual({ content: chunks.join(""), done: true, excess: 0 });
      for (let cut = 0; cut < text.length; cut++) expect(decode(text.slice(0, cut), sizes).done).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test("malformed frames are rejected", () => {
  const refused = [
    "\r\n",
    "g\r\n",
    "-1\r\n",
    "0x3\r\nabc",
    ";x\r\n",
    "3\nabc",
    "3\rabc",
    "3;x\nabc",
    "3\r\nabcd\r\n",
    "3\r\nabc\n",
    "3\r\nabc\rx",
    "0\r\nt: x\n\r\n",
    "0\r\n\rx",
    "fffffffffffffffff\r\n",
    `${"0".repeat(5000)}1\r\n`,
    `1;${"x".repeat(5000)}`,
    `0\r\n${"t: x\r\n".repeat(20_000)}`,
  ];
  for (const text of refused) {
    expect(() => decode(text), text.slice(0, 40)).toThrow(/invalid HTTP response/);
    expect(() => decode(text, [1]), text.slice(0, 40)).toThrow(/invalid HTTP response/);
  }
});
