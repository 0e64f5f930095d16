import { describe, expect, test } from "bun:test";
import { piiFinder } from "./find-pii.ts";
import { secretFinder } from "./find-secrets.ts";
import { searchSlices, searchText } from "./search-text.ts";
import type { TextFinder } from "./text-match.ts";
import { WordFinder } from "./word-finder.ts";

const words = new WordFinder(["bluebird", "acme corp", "計画", "ガイド", "학교", "Việt", "ΟΔΟΣ"]);
const found = (finder: TextFinder, text: string) =>
  searchText(finder, text).matches.map(({ start, end, label }) => [label, text.slice(start, end)]);

/** The matches of all slices, those that go on joined. */
function sliced(finder: TextFinder, text: string, size: number) {
  const all: { start: number; end: number; label: string }[] = [];
  let end = 0;
  for (const slice of searchSlices(finder, text, size)) {
    expect(slice.end).toBeGreaterThanOrEqual(end);
    end = slice.end;
    for (const match of slice.matches) {
      const last = all.at(-1);
      if (match.label === "" && last !== undefined) last.end = match.end;
      else all.push({ ...match });
    }
  }
  expect(end).toBe(text.length);
  return all;
}

const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url");
const JWT = `${HEADER}.${"aB3_".repeat(40)}.${"xY9-".repeat(20)}`;
const LONG_JWT = `${HEADER}.${"aB3_".repeat(4000)}.${"xY9-".repeat(20)}`;
const PEM = `-----BEGIN PRIVATE KEY-----\n${`${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(2)}\n`.repeat(26)}abcd==\n-----END PRIVATE KEY-----`;

describe("S25: a text is searched in slices", () => {
  test.each<[string, TextFinder, string, string]>([
    ["a card number", piiFinder, "card", "4111 1111 1111 1111"],
    ["an address", piiFinder, "email", "jürgen.example@münchen.example.com"],
    ["an IPv6 address", piiFinder, "ip", "2001:db8::ff00:42:8329"],
    ["a password", secretFinder, "password", "app:pa55word"],
    ["a signed token", secretFinder, "jwt", JWT],
    ["a token that is longer than all slices", secretFinder, "jwt", LONG_JWT],
    ["a private key", secretFinder, "private_key", PEM],
    ["a phrase", words, "word", "Acme \n Corp"],
    ["a word with invisible characters", words, "word", `blue${"\u200b".repeat(7000)}bird`],
    ["Japanese", words, "word", "ｶﾞｲﾄﾞ"],
  ])("and what is at the end of one is found: %s", (_name, finder, label, secret) => {
    const before = label === "password" ? "postgres://" : "";
    const after = label === "password" ? "@db" : "";
    for (let offset = 0; offset < 256; offset += 17) {
      const text = `${"Some words. ".repeat(500)}${"x".repeat(offset)} ${before}${secret}${after} ${"and more. ".repeat(700)}`;
      const start = text.indexOf(secret);
      expect(sliced(finder, text, 256)).toEqual([{ start, end: start + secret.length, label }]);
    }
  });

  test("in a run without any break too", () => {
    const text = "4111 1111 1111 1111 5500-0055-5555-5559 ".repeat(300);
    expect(sliced(piiFinder, text, 256)).toEqual(searchText(piiFinder, text).matches);
  });

  test("the work for each is limited, whatever the text is", () => {
    const length = 300_000;
    for (const finder of [words, piiFinder, secretFinder])
      for (const unit of [
        "a",
        "1 ",
        "é",
        "計",
        "acme ",
        "b\u200b",
        "\u200b",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "🏴",
      ]) {
        let searched = 0;
        for (const slice of searchSlices(finder, unit.repeat(length / unit.length))) {
          expect(slice.searched).toBeLessThan(32 * 1024);
          searched += slice.searched;
        }
        expect(searched).toBeLessThan(2 * length);
      }
  });

  test("what never stops being the beginning of a word is a match", () => {
    const text = `Some b${"\u200b".repeat(400_000)}luebird`;
    expect(sliced(words, text, 16 * 1024)[0]).toMatchObject({ start: 5, label: "hidden_text" });
  });
});

describe("S28: a text is searched as it is read", () => {
  test("characters that are not shown hide nothing, and are redacted with what they are in", () => {
    for (let code = 0x80; code < 0xe1000; code++) {
      if (code === 0x30000) code = 0xe0000;
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      if (!/\p{Default_Ignorable_Code_Point}/u.test(character)) continue;
      const word = `blue${character}b${character}ird`;
      expect(found(words, `A ${word}.`)).toEqual([["word", word]]);
    }
  });

  test.each<[string, TextFinder, string, string]>([
    ["an invisible mark in a key", secretFinder, "aws_key", "AKIA\u034fIOSFODNN7EX\ufe0fAMPLE"],
    ["invisible characters in an address", piiFinder, "email", "ali\u2065ce@exam\u206fple.com"],
    ["wide digits", piiFinder, "card", "４１１１　１１１１ 1111 1111"],
    ["styled letters", piiFinder, "email", "𝐚𝐥𝐢𝐜𝐞@example.com"],
    ["a decomposed address", piiFinder, "email", "ju\u0308rgen@mu\u0308nchen.de"],
    ["styled letters in a word", words, "word", "𝓫𝓵𝓾𝓮bird"],
    ["decomposed Hangul", words, "word", "학교".normalize("NFD")],
    ["marks in another order", words, "word", "Vie\u0302\u0323t"],
    ["narrow Katakana", words, "word", "ｶﾞｲﾄﾞ"],
    ["a sigma at the end", words, "word", "οδος"],
    [
      "tags that are letters",
      words,
      "word",
      [..."bluebird"].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join(""),
    ],
  ])("%s", (_name, finder, label, text) => {
    for (const around of [text, `(${text})`, `é ${text} ﬁ ${text} が`])
      expect(found(finder, around)).toEqual(
        around
          .split(text)
          .slice(1)
          .map(() => [label, text]),
      );
  });

  test("what is found in the text as it stands is found beside a character that reads as a digit", () => {
    expect(found(piiFinder, "4111 1111 1111 1111²")).toEqual([["card", "4111 1111 1111 1111"]]);
  });

  test("a part of a letter is no word", () => {
    expect(found(new WordFinder(["か", "nai"]), "が naïve")).toEqual([]);
  });
});
