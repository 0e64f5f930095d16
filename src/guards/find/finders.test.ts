import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../base/cpu-time.sample.ts";
import { piiFinder } from "./find-pii.ts";
import { secretFinder } from "./find-secrets.ts";
import { hasTokenChecksum } from "./has-token-checksum.ts";
import { searchText } from "./search-text.ts";
import type { TextFinder } from "./text-match.ts";
import { WordFinder } from "./word-finder.ts";

const found = (finder: TextFinder, text: string) =>
  searchText(finder, text).matches.map(({ start, end, label }) => [label, text.slice(start, end)]);

const JWT =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
const PEM = [
  "-----BEGIN RSA PRIVATE KEY-----",
  "MIIEowIBAAKCAQEA1234567890abcdefghij",
  "abcd",
  "-----END RSA PRIVATE KEY-----",
].join("\n");

describe("decision 0123: secrets", () => {
  test.each([
    ["aws_key", "AKIAIOSFODNN7EXAMPLE"],
    ["google_key", "AIzaSyA1234567890abcdefghijklmnopqrstuv"],
    ["github_token", "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"],
    ["slack_token", "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"],
    ["stripe_key", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"],
    ["anthropic_key", "sk-ant-api03-R2D2c3POabcdefGHIJKLmnop1234567890-xyzXYZ"],
    ["api_key", "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"],
    ["gateway_key", `sk-trv-${"aB3-_x".repeat(7)}z`],
    ["huggingface_token", "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"],
    ["jwt", JWT],
    ["private_key", PEM],
    ["private_key", PEM.replaceAll("\n", "\\n")],
  ])("finds %s, wherever it stands", (label, secret) => {
    for (const text of [secret, `key: ${secret}.`, `"${secret}"`, `a=${secret};b`])
      expect(found(secretFinder, text)).toEqual([[label, secret]]);
  });

  test("finds a secret key after its name, and a password in a URL", () => {
    expect(found(secretFinder, "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE7KEY")).toEqual([
      ["secret_key", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE7KEY"],
    ]);
    expect(found(secretFinder, "postgres://app:pa55word@db.example:5432/app")).toEqual([["password", "app:pa55word"]]);
  });

  test.each([
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-your-api-key-goes-here-please",
    "risk-management-and-task-scheduling-are-words",
    "eyJust.some.words and eyJhbGciOiJ.",
    "https://example.com/a:b@c",
    "-----BEGIN PUBLIC KEY-----",
    "AKIA is the prefix of a key",
  ])("leaves %s alone", (text) => expect(found(secretFinder, text)).toEqual([]));

  test("a checksum distinguishes a token from a word of the same form", () => {
    expect(hasTokenChecksum("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")).toBe(true);
    expect(hasTokenChecksum("ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18")).toBe(false);
  });
});

describe("decision 0123: personal data", () => {
  test.each([
    ["email", "alice@example.com"],
    ["email", "b.c+d@sub.example.co.uk"],
    ["email", "jürgen@münchen.de"],
    ["phone", "+49 30 1234567"],
    ["phone", "+14155552671"],
    ["phone", "(555) 234-5678"],
    ["phone", "555-234-5678"],
    ["phone", "01 23 45 67 89"],
    ["phone", "020 7946 0958"],
    ["phone", "030/1234567"],
    ["card", "4111 1111 1111 1111"],
    ["card", "5500-0055-5555-5559"],
    ["card", "378282246310005"],
    ["iban", "DE89 3704 0044 0532 0130 00"],
    ["iban", "GB82WEST12345698765432"],
    ["ssn", "123-45-6789"],
    ["ip", "192.168.1.10"],
    ["ip", "2001:db8::ff00:42:8329"],
    ["ip", "fe80::1ff:fe23:4567:890a"],
  ])("finds %s: %s", (label, text) => {
    for (const around of [text, `call ${text}, please`, `(${text})`, `"${text}"`, `12 ${text} x`].filter(
      (one) => label !== "phone" || !one.startsWith("12 ") || text.startsWith("+") || text.startsWith("("),
    )) {
      expect(found(piiFinder, around)).toEqual([[label, text]]);
    }
  });

  test.each([
    "4111 1111 1111 1112",
    "DE89 3704 0044 0532 0130 03 is no IBAN, and neither is AB12 3456",
    "000-12-3456",
    "version 1.2.3.4.5, at 12:30:45 on 2024-01-15",
    "550e8400-e29b-41d4-a716-446655440000",
    "1700000000",
    "@someone, see file@2x",
    "999.1.1.1",
  ])("leaves %s alone", (text) => {
    expect(found(piiFinder, text).filter(([label]) => label !== "phone")).toEqual([]);
  });
});

describe("decision 0123: words", () => {
  const words = new WordFinder(["Foo", "acme corp", "日本", "naïve"]);

  test.each([
    ["foo food FOO", ["foo", "FOO"]],
    ["ＦＯＯ and f\u200boo and fo\u00ado", ["ＦＯＯ", "f\u200boo", "fo\u00ado"]],
    ["Acme  Corp, acme\ncorp, acmecorp", ["Acme  Corp", "acme\ncorp"]],
    ["in日本で", ["日本"]],
    ["NAI\u0308VE nai\u0308vely", ["NAI\u0308VE"]],
    ["_foo foo_ foo1 foo-bar", ["foo"]],
  ])("finds whole words in %j", (text, expected) => {
    expect(found(words, text).map(([, word]) => word)).toEqual(expected);
  });
});

describe("S18: hostile texts take linear time", () => {
  const repeated = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  const UNITS = [
    "a",
    "1",
    "1 ",
    "1-",
    "a@",
    "@",
    "eyJ",
    "eyJ.",
    "-eyJ",
    "sk-",
    "://",
    "a://b:c",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ",
    "AB12 ",
    "1:",
    "::",
    "a.b",
    "aws_secret",
    "4111 1111 1111 1111 ",
    "foo ",
    "é",
    "aaaaaaa ",
    "\\n",
  ];
  const finders: [string, TextFinder][] = [
    ["secrets", secretFinder],
    ["pii", piiFinder],
    ["words", new WordFinder(["aaaaaaab", "foo bar", "éééb"])],
  ];

  test.each(finders)("%s", (_name, finder) => {
    for (const unit of UNITS) {
      const time = (length: number) => {
        const text = repeated(unit, length);
        const startedMs = cpuMs();
        searchText(finder, text);
        return cpuMs() - startedMs;
      };
      searchText(finder, repeated(unit, 10_000));
      const [short, long] = [time(50_000), time(400_000)];
      // Eight times the text. Quadratic time would be 64 times.
      expect({ unit, isLinear: long < 24 * short + 100 }).toEqual({ unit, isLinear: true });
    }
  });
});
