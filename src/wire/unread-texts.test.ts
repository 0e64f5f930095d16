import { describe, expect, test } from "bun:test";
import { UnreadTexts } from "./unread-texts.ts";

const NAMES = new Set(["content", "text"]);
const LONG = 'Prüfe "alles"\n\\ – 構成 🙂 '.repeat(100);

const setAside = (text: string | Buffer) => UnreadTexts.of(Buffer.from(text as string), NAMES);

function whole(text: string): string | undefined {
  const texts = setAside(text);
  return texts?.putBack(texts.rest)?.toString();
}

describe("long texts", () => {
  test.each([
    ["in an object", { a: 1, content: LONG, z: "ü" }],
    ["in parts", { parts: [{ text: LONG }, { text: "short" }, { text: `${LONG}!` }] }],
    ["that end in backslashes", { content: `${LONG}\\\\` }],
    ["that look like members", { content: `${'","content":"'.repeat(200)}` }],
  ])("%s are put back as they were", (_, body) => {
    for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
      const texts = setAside(text);
      expect(texts?.rest.length).toBeLessThan(400);
      expect(texts?.putBack(texts.rest)?.toString()).toBe(text);
    }
  });

  test("texts under a repeated name are put back in their order", () => {
    const text = `{"content" :${JSON.stringify(LONG)}, "content":\n${JSON.stringify(`${LONG}2`)}}`;
    expect(setAside(text)?.rest.length).toBeLessThan(40);
    expect(whole(text)).toBe(text);
  });

  test("only values of the named members are set aside", () => {
    const others = JSON.stringify({
      [LONG]: LONG,
      other: LONG,
      content: [LONG],
      deep: { content: { text: 1, x: LONG } },
    });
    expect(setAside(others)).toBeUndefined();
    expect(setAside('{"c\\u006fntent":"'.concat("x".repeat(2000), '"}'))).toBeUndefined();
  });

  test("changes around the texts are kept", () => {
    const texts = setAside(JSON.stringify({ model: "a", content: LONG, stop: "ü" }));
    const changed = texts?.rest.replace('"a"', '"ö"').replace('"ü"', '"z"') ?? "";
    expect(texts?.putBack(changed)?.toString()).toBe(JSON.stringify({ model: "ö", content: LONG, stop: "z" }));
  });

  test("changes that move, repeat, remove or rewrite a text are noticed", () => {
    const texts = setAside(JSON.stringify({ content: LONG, text: LONG }));
    const [first = "", second = ""] = texts?.rest.match(/"[\ud800-\udbff]"/g) ?? [];
    const rest = texts?.rest ?? "";
    expect(texts?.putBack(rest.replace(first, "").replace(second, first))).toBeUndefined();
    expect(texts?.putBack(rest.replace(second, '""'))).toBeUndefined();
    expect(texts?.putBack(`${rest}${first}`)).toBeUndefined();
    expect(texts?.putBack(JSON.stringify(JSON.parse(rest)))).toBeUndefined();
  });

  test.each([
    [
      "invalid UTF-8",
      Buffer.concat([Buffer.from(`{"content":"${"x".repeat(2000)}`), Buffer.from([0xff]), Buffer.from('"}')]),
    ],
    ["a byte order mark", `\ufeff${JSON.stringify({ content: LONG })}`],
    ["an unended text", `{"content":"${"x".repeat(2000)}`],
    ["a line break in a text", `{"content":"${"x".repeat(2000)}\n"}`],
    ["an unknown escape in a text", `{"content":"${"x".repeat(2000)}\\q"}`],
    ["too many texts", JSON.stringify(Array.from({ length: 65 }, () => ({ text: LONG })))],
  ])("leaves %s to the reader of the whole", (_, text) => {
    expect(setAside(text)).toBeUndefined();
  });

  test("the rest is valid JSON exactly if the whole is", () => {
    let state = 7;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % below;
    };
    const sample = JSON.stringify({
      id: "1",
      choices: [{ message: { content: LONG, n: 1e21 } }],
      text: LONG,
      usage: { a: 1 },
    });
    const pieces = ['"', "\\", "{", "}", ",", ":", "x", "\n", '"content":', "[", "]", "\\u00e9", "🙂"];
    let kept = 0;
    for (let run = 0; run < 3_000; run++) {
      const at = random(sample.length);
      const cut = random(3) === 0 ? sample.length : random(4);
      const text =
        sample.slice(0, at) + (random(4) === 0 ? "" : pieces[random(pieces.length)]) + sample.slice(at + cut);
      const texts = setAside(text.toWellFormed());
      if (texts === undefined) continue;
      kept++;
      expect(isJson(texts.rest)).toBe(isJson(text.toWellFormed()));
      expect(texts.putBack(texts.rest)?.toString()).toBe(text.toWellFormed());
    }
    expect(kept).toBeGreaterThan(500);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("a short body is left alone", () => {
  expect(whole('{"content":"short"}')).toBeUndefined();
});
