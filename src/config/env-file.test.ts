import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { changeEnvFile, readEnvFile } from "./env-file.ts";

describe("readEnvFile", () => {
  test("reads plain, quoted, exported and commented lines, and ignores anything else", () => {
    const text = [
      "# a comment",
      "A=1",
      'B="two words # no comment" # one',
      "C='$A'",
      "export D = four # a comment",
      "E=",
      "not a line",
      "F=a=b\r",
      'G="a\\"b\\n"',
    ].join("\n");
    expect(readEnvFile(text)).toEqual({
      A: "1",
      B: "two words # no comment",
      C: "$A",
      D: "four",
      E: "",
      F: "a=b",
      G: 'a"b\n',
    });
  });
});

describe("changeEnvFile", () => {
  test("replaces existing variables, adds new ones, and leaves everything else unchanged", () => {
    const text = "# mine\nKEEP=me\nexport OPENAI_API_KEY=old\n";
    expect(changeEnvFile(text, { OPENAI_API_KEY: "new", OTHER: "x y" })).toBe(
      "# mine\nKEEP=me\nOPENAI_API_KEY=new\nOTHER='x y'\n",
    );
    expect(changeEnvFile("", { A: "1" })).toBe("A=1\n");
  });

  test("any key is read back as it was written", () => {
    const key = fc.stringMatching(/^[\x21-\x7e]{1,40}$/);
    fc.assert(fc.property(key, (value) => expect(readEnvFile(changeEnvFile("", { A: value }))).toEqual({ A: value })));
  });
});
