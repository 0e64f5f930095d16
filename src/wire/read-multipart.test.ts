import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MultipartError } from "./multipart-error.ts";
import type { MultipartLimits } from "./multipart-grammar.ts";
import { type Form, type FormEntry, readMultipart } from "./read-multipart.ts";

const BOUNDARY = "----cut-here";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const LIMITS: MultipartLimits = { maxParts: 20, maxFieldBytes: 1000 };

const read = (body: Uint8Array, type = TYPE, limits: Partial<MultipartLimits> = {}): Promise<Form> =>
  readMultipart(body, type, { ...LIMITS, ...limits });
const readText = (text: string, type = TYPE, limits: Partial<MultipartLimits> = {}) =>
  read(Buffer.from(text, "latin1"), type, limits);
const failure = async (promise: Promise<unknown>): Promise<MultipartError> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MultipartError)) throw new Error(`no MultipartError: ${error}`);
  return error;
};

/** A file whose bytes resemble a boundary in every possible way. */
const TRICKY = Buffer.from(
  `\r\n--${BOUNDARY}x\r\n-- \r\r\n--${BOUNDARY}-\r\n\r\n--${BOUNDARY.slice(0, -1)}\xff\0`,
  "latin1",
);
const part = (headers: string, content: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n`), Buffer.from(content), Buffer.from("\r\n")]);
const FORM = Buffer.concat([
  Buffer.from("a preamble\r\n"),
  part('Content-Disposition: form-data; name="prompt"', "ein Fuchs, größer\r\nals zwei"),
  part('content-disposition: form-data; filename="a \\"b\\".png"; name="image[]"\r\nContent-Type: image/png', TRICKY),
  part('Content-Disposition: form-data; name="n"', ""),
  Buffer.from(`--${BOUNDARY}--\r\nan epilogue`),
]);
const ENTRIES: FormEntry[] = [
  { name: "prompt", value: "ein Fuchs, größer\r\nals zwei" },
  { name: "image[]", fileName: 'a "b".png', mimeType: "image/png", bytes: TRICKY },
  { name: "n", value: "" },
];
const plain = (form: Form) =>
  form.map((entry) => ("bytes" in entry ? { ...entry, bytes: Buffer.from(entry.bytes).toString("hex") } : entry));

describe("H12: a form is read exactly", () => {
  test("with a preamble, an epilogue and near-boundaries", async () => {
    expect(plain(await read(FORM))).toEqual(plain(ENTRIES));
  });

  test("files are views of the body, not copies", async () => {
    const file = (await read(FORM))[1];
    expect(file && "bytes" in file ? file.bytes.buffer : undefined).toBe(FORM.buffer);
  });

  test("any files are read unchanged", async () => {
    const bytes = fc.array(fc.constantFrom(0x0d, 0x0a, 0x2d, 0x61, 0xff), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { maxLength: 4 }), async (files) => {
        const body = Buffer.concat([
          ...files.map((file) =>
            Buffer.concat([
              Buffer.from('--a\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n'),
              Uint8Array.from(file),
              Buffer.from("\r\n"),
            ]),
          ),
          Buffer.from("--a--"),
        ]);
        // A file and the line end after it must not form a boundary.
        fc.pre(!files.some((file) => /\r\n--a(?:\r\n|--)/.test(`\r\n${Buffer.from(file).toString("latin1")}\r\n`)));
        const form = await read(body, "multipart/form-data; boundary=a");
        expect(form.map((entry) => ("bytes" in entry ? [...entry.bytes] : entry))).toEqual(files);
      }),
      { numRuns: 300 },
    );
  });

  test("a form without its last boundary is an error, wherever it is cut", async () => {
    const last = FORM.indexOf(`--${BOUNDARY}--`) + BOUNDARY.length + 4;
    for (let at = 0; at < last; at += 3) {
      expect((await failure(read(FORM.subarray(0, at)))).kind).toBe("malformed");
    }
  });

  test("reads what FormData writes", async () => {
    const data = new FormData();
    data.append('na"me', "wert");
    data.append("image", new File([TRICKY], "grüße.png", { type: "image/png" }));
    const response = new Response(data);
    const type = response.headers.get("content-type") ?? "";
    const form = await read(await response.bytes(), type);
    expect(plain(form)).toEqual(
      plain([
        { name: 'na"me', value: "wert" },
        { name: "image", fileName: "grüße.png", mimeType: "image/png", bytes: TRICKY },
      ]),
    );
  });
});

describe("H12: parts", () => {
  const one = async (headers: string, content = "x") =>
    (await readText(`--${BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n--${BOUNDARY}--`))[0];

  test("the extended file name takes precedence over the plain one", async () => {
    const headers = `Content-Disposition: form-data; name=image; filename="x.png"; filename*=UTF-8''na%C3%AFve.png`;
    expect(await one(headers)).toMatchObject({ name: "image", fileName: "naïve.png" });
  });

  test("an image without a file name is a file; text with a content type is not", async () => {
    const name = 'Content-Disposition: form-data; name="f"';
    expect(await one(`${name}\r\nContent-Type: image/png`)).toHaveProperty("bytes");
    expect(await one(`${name}\r\nContent-Type: text/plain; charset=utf-8`)).toEqual({ name: "f", value: "x" });
  });

  test("a backslash in a path is kept", async () => {
    expect(await one('Content-Disposition: form-data; name="f"; filename="C:\\temp\\a.png"')).toMatchObject({
      fileName: "C:\\temp\\a.png",
    });
  });

  const broken: [string, string][] = [
    ["no name", "Content-Disposition: form-data"],
    ["no disposition", "Content-Type: image/png"],
    ["a line that is not a header", "nonsense"],
    ["another encoding", 'Content-Disposition: form-data; name="f"\r\nContent-Transfer-Encoding: base64'],
  ];
  test.each(broken)("%s is rejected", async (_, headers) => {
    expect((await failure(one(headers))).kind).toBe("malformed");
  });

  test("text that is not UTF-8 is rejected, and the error names the field", async () => {
    const error = await failure(one('Content-Disposition: form-data; name="prompt"', "\xff\xfe"));
    expect(error).toMatchObject({
      kind: "malformed",
      field: "prompt",
      message: "The form field prompt is not valid UTF-8.",
    });
  });

  const types = [
    "multipart/form-data",
    "multipart/mixed; boundary=a",
    "multipart/form-data; boundary=",
    "application/json",
  ];
  test.each(types)("the content type %p is rejected", async (type) => {
    expect((await failure(readText("", type))).message).toContain("boundary");
  });

  test("accepts a quoted boundary among other parameters", async () => {
    const form = await readText(
      '--a b\r\nContent-Disposition: form-data; name="n"\r\n\r\n2\r\n--a b--',
      'Multipart/Form-Data; charset=utf-8; boundary="a b"',
    );
    expect(form).toEqual([{ name: "n", value: "2" }]);
  });
});

describe("H12: limits", () => {
  test("each error says which limit was exceeded", async () => {
    expect((await failure(read(FORM, TYPE, { maxParts: 2 }))).message).toBe("The form has more than 2 parts.");
    expect(await failure(read(FORM, TYPE, { maxFieldBytes: 5 }))).toMatchObject({
      kind: "too_large",
      field: "prompt",
    });
    const endless = Buffer.from(`--${BOUNDARY}\r\nX: ${"x".repeat(20_000)}`);
    expect((await failure(read(endless))).kind).toBe("too_large");
  });

  test("a field that is too large is rejected even if the form ends inside it", async () => {
    const cut = Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="n"\r\n\r\n${"x".repeat(1001)}`);
    expect(await failure(read(cut))).toMatchObject({ kind: "too_large", field: "n" });
    expect(await failure(read(cut.subarray(0, -1)))).toMatchObject({ kind: "malformed", field: "n" });
  });
});

describe("S18: content that is the worst case for the search", () => {
  const files = (content: string) =>
    `--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n${content}\r\n--b--\r\n`;
  const TYPE_B = "multipart/form-data; boundary=b";

  test("near-boundaries remain content and take no extra memory", async () => {
    const content = "\r\n--bX".repeat(9_000);
    const [image] = await readText(files(content), TYPE_B);
    expect(image && "bytes" in image ? Buffer.from(image.bytes).toString("latin1") : "").toBe(content);
  });

  test("too many near-boundaries are rejected with advice, in the preamble too", async () => {
    const content = "\r\n--bX".repeat(500_000);
    for (const text of [files(content), content]) {
      const error = await failure(readText(text, TYPE_B));
      expect(error).toMatchObject({ kind: "malformed", message: expect.stringContaining("Choose another boundary") });
    }
  });

  test("a large file is searched in steps, so that other requests make progress", async () => {
    let turns = 0;
    let reading = true;
    const turn = () => {
      turns++;
      if (reading) setImmediate(turn);
    };
    setImmediate(turn);
    const content = "\r\n--a".repeat(8_000_000);
    const [image] = await readText(files(content), TYPE_B);
    reading = false;
    expect(image && "bytes" in image ? image.bytes.length : 0).toBe(content.length);
    expect(turns).toBeGreaterThan(5);
  });
});
