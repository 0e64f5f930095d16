import { expect, test } from "bun:test";
import { readForm } from "./read-form.ts";

const TYPE = "multipart/form-data; boundary=cut";
const read = (text: string, type = TYPE) => readForm(Buffer.from(text), type);
const part = (head: string, content: string) =>
  `--cut\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;

test("H12: fields and files, as the runtime writes them", async () => {
  const data = new FormData();
  data.append("prompt", "ein größerer Fuchs\r\nund --cut");
  data.append("image", new File([Uint8Array.of(0, 255, 13, 10)], "größe.png", { type: "image/png" }));
  const form = new Response(data);
  const type = form.headers.get("content-type") ?? "";
  expect(readForm(await form.bytes(), type)).toEqual([
    {
      name: "prompt",
      fileName: undefined,
      mimeType: expect.any(String),
      bytes: Buffer.from("ein größerer Fuchs\r\nund --cut"),
    },
    { name: "image", fileName: "größe.png", mimeType: "image/png", bytes: Buffer.from([0, 255, 13, 10]) },
  ]);
});

test("a type is what was declared, never a guess by the file's name", () => {
  const [bare] = read(`${part('name="image"; filename="a.png"', "x")}--cut--`) ?? [];
  expect(bare?.mimeType).toBe("application/octet-stream");
});

test.each([
  ["another content type", "{}", "application/json"],
  ["no boundary", "--cut--", "multipart/form-data"],
  ["no end", part('name="n"', "1"), TYPE],
  ["a part without a name", `${part('filename="a"', "1")}--cut--`, TYPE],
  ["a part without a head", "--cut\r\nx\r\n--cut--", TYPE],
])("refused: %s", (_, text, type) => {
  expect(read(text, type)).toBeUndefined();
});
