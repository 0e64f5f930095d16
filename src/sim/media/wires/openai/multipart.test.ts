import { describe, expect, test } from "bun:test";
import { readMultipart } from "./multipart.ts";

const TYPE = 'multipart/form-data; boundary="b 1"';
const encoder = new TextEncoder();
const read = (text: string) => readMultipart(encoder.encode(text), TYPE);

describe("H12: forms", () => {
  test("a part keeps the type that it was declared to have, and its bytes", () => {
    const parts = read(
      [
        "before the form\r\n--b 1",
        'Content-Disposition: form-data; name="image[]"; filename="a.png"',
        "Content-Type: application/octet-stream",
        "",
        "one\r\n\r\n--b 2",
        "--b 1",
        'content-disposition: form-data; name="n"',
        "",
        "2",
        "--b 1--",
        "",
      ].join("\r\n"),
    );
    expect(parts).toEqual([
      {
        name: "image[]",
        fileName: "a.png",
        contentType: "application/octet-stream",
        bytes: encoder.encode("one\r\n\r\n--b 2"),
      },
      { name: "n", contentType: "", bytes: encoder.encode("2") },
    ]);
  });

  test.each([
    ["nothing", ""],
    ["no end", '--b 1\r\nContent-Disposition: form-data; name="n"\r\n\r\n2'],
    ["no blank line", '--b 1\r\nContent-Disposition: form-data; name="n"\r\n--b 1--'],
    ["no name", "--b 1\r\nContent-Disposition: form-data\r\n\r\n2\r\n--b 1--"],
  ])("%s is no form", (_, text) => {
    expect(read(text)).toBeUndefined();
  });
});
