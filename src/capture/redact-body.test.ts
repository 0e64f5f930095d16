import { describe, expect, test } from "bun:test";
import { redactBody } from "./redact-body.ts";

const redacted = (text: string, most = 100_000) => redactBody(text, most).text;
const json = (value: unknown) => redacted(JSON.stringify(value));
/** Bytes that compress badly, like media. */
const noise = (length: number) =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 7919 + (index >> 3) * 104_729) % 251));
const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), noise(3000)]);

describe("0064: media are replaced by their type and size", () => {
  test.each([
    ["a data URL", { url: `data:image/webp;base64,${png.toBase64()}` }, '{"url":"[image/webp, 3008 bytes]"}'],
    [
      "one with parameters",
      { url: `data:audio/L16;rate=24000;base64,${png.toBase64()}` },
      '{"url":"[audio/L16, 3008 bytes]"}',
    ],
    ["base64 alone, by its beginning", { data: png.toBase64() }, '{"data":"[image/png, 3008 bytes]"}'],
    [
      "WebP and WAV, which begin alike",
      {
        a: Buffer.concat([Buffer.from("RIFF\x01\x02\x03\x04WEBP", "latin1"), noise(300)]).toBase64(),
        b: Buffer.concat([Buffer.from("RIFF\x01\x02\x03\x04WAVE", "latin1"), noise(300)]).toBase64(),
      },
      '{"a":"[image/webp, 312 bytes]","b":"[audio/wav, 312 bytes]"}',
    ],
    ["base64 of something else", { b64_json: noise(1000).toBase64() }, '{"b64_json":"[base64, 1000 bytes]"}'],
    ["base64url", { data: noise(1000).toBase64({ alphabet: "base64url" }) }, '{"data":"[base64, 1000 bytes]"}'],
    [
      "one in Markdown",
      { text: `see ![](data:image/png;base64,${png.toBase64()}) and go` },
      '{"text":"see ![]([image/png, 3008 bytes]) and go"}',
    ],
    [
      "two in one text",
      { text: `data:image/png;base64,${png.toBase64()} data:image/gif;base64,${noise(90).toBase64()}` },
      '{"text":"[image/png, 3008 bytes] [image/gif, 90 bytes]"}',
    ],
    [
      "one in arguments, which are JSON in JSON",
      { arguments: JSON.stringify({ file: png.toBase64(), n: 1 }) },
      JSON.stringify({ arguments: '{"file":"[image/png, 3008 bytes]","n":1}' }),
    ],
  ])("%s", (_, given, shown) => {
    expect(json(given)).toBe(shown);
  });

  test("base64 whose signs a host has escaped", () => {
    const escaped = png.toBase64().replaceAll("/", "\\/").replaceAll("=", "\\u003d");
    expect(redacted(`{"data":"${escaped}"}`)).toMatch(/^\{"data":"\[image\/png, 3\d\d\d bytes\]"\}$/);
  });

  test("in events, complete and truncated", () => {
    const event = `event: image\ndata: {"b64_json":"${png.toBase64()}","index":0}\n\n`;
    expect(redacted(event + event.slice(0, 2000))).toBe(
      'event: image\ndata: {"b64_json":"[image/png, 3008 bytes]","index":0}\n\nevent: image\ndata: {"b64_json":"[image/png, 1476 bytes]',
    );
  });

  test("ordinary text stays: prose, code, hashes, long words, addresses", () => {
    const texts = [
      "word ".repeat(500),
      "a".repeat(5000),
      "0123456789abcdef".repeat(40),
      `https://host.test/${"p/".repeat(400)}`,
      "日本語".repeat(400),
      "const x = 1;\n".repeat(80),
    ];
    for (const text of texts) expect(json({ text })).toBe(JSON.stringify({ text }));
  });

  test("everything else is preserved: numbers, white space, order, repeated fields", () => {
    const text = '{ "b" : 1.0, "a":\n12345678901234567890 , "a":"\\u00e9\\"" }\n';
    expect(redacted(text)).toBe(text);
  });
});

describe("0064, S10: credentials are replaced", () => {
  test.each([
    [
      "by the field's name",
      { mcp_servers: [{ authorization_token: "abc", url: "https://x.test" }] },
      '{"mcp_servers":[{"authorization_token":"[secret]","url":"https://x.test"}]}',
    ],
    [
      "in headers of a tool",
      { headers: { Authorization: "Token abc", "X-Api-Key": "k", accept: "a" } },
      '{"headers":{"Authorization":"[secret]","X-Api-Key":"[secret]","accept":"a"}}',
    ],
    ["in a list", { password: ["one", "two"] }, '{"password":["[secret]","[secret]"]}'],
    [
      "in arguments, which are JSON in JSON",
      { arguments: '{"api_key":"abc","q":1}' },
      JSON.stringify({ arguments: '{"api_key":"[secret]","q":1}' }),
    ],
    [
      "by its looks, in the middle of a text",
      { text: "use sk-proj-abc123def456ghi789 now" },
      '{"text":"use [secret] now"}',
    ],
    [
      "a header that was pasted",
      { text: "Authorization: Bearer abcdef0123456789" },
      '{"text":"Authorization: Bearer [secret]"}',
    ],
    ["a signed token", { text: `eyJhbGciOiJIUzI1NiJ9.${"eyJzdWIiOiIxIn0"}.abc` }, '{"text":"[secret]"}'],
    [
      "a private key",
      { text: "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- x" },
      '{"text":"[secret] x"}',
    ],
    ["a token that is no word", { token: "f3a9c1d27b604e8f", n: 1 }, '{"token":"[secret]","n":1}'],
    ["one with a name before it", { vault_token: "hvs.CAESIJ1234567890ab" }, '{"vault_token":"[secret]"}'],
    [
      "a token in arguments",
      { arguments: '{"token":"f3a9c1d27b604e8f"}' },
      JSON.stringify({ arguments: '{"token":"[secret]"}' }),
    ],
    [
      "a password in an address",
      { text: "clone https://me:hunter2@git.test/x and postgres://app:p%40ss@db.test/app" },
      '{"text":"clone https://me:[secret]@git.test/x and postgres://app:[secret]@db.test/app"}',
    ],
    [
      "credentials in the query of an address",
      { url: "https://x.test/a?q=1&api_key=abcdef&page=2", other: "https://x.test/?X-Amz-Signature=0a1b2c3d&b=1" },
      '{"url":"https://x.test/a?q=1&api_key=[secret]&page=2","other":"https://x.test/?X-Amz-Signature=[secret]&b=1"}',
    ],
    [
      "a secret key of AWS, by the word before it",
      { text: "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
      '{"text":"aws_secret_access_key = [secret]"}',
    ],
    [
      "one after its id",
      { text: "AKIAIOSFODNN7EXAMPLE / wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
      '{"text":"[secret] / [secret]"}',
    ],
    [
      "one in a field of its own",
      { aws_secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
      '{"aws_secret_access_key":"[secret]"}',
    ],
    ["a key of this gateway", { text: `trv-${"aB3".repeat(14)}x` }, '{"text":"[secret]"}'],
  ])("%s", (_, given, shown) => {
    expect(json(given)).toBe(shown);
  });

  test("words that only resemble credentials stay: the tokens of probabilities, schemas, names", () => {
    const given = {
      logprobs: [{ token: "secret", bytes: [1] }, { token: " internationalization" }, { token: "1234567890" }],
      url: "https://host.test:8080/path?q=token&page=2",
      mail: "mailto:me@host.test",
      time: "at 10:30 me@host.test",
      digest: "0123456789abcdef0123456789abcdef01234567",
      properties: { api_key: { type: "string" } },
      max_tokens: 5,
      text: "a risk-free task-based sk-learn key-value pair",
    };
    expect(json(given)).toBe(JSON.stringify(given));
  });
});

describe("0064: bounds", () => {
  test("a text is cut at its limit, never inside a character, and marked as cut", () => {
    expect(redactBody("a".repeat(10), 10)).toEqual({ text: "a".repeat(10), cut: false });
    expect(redactBody("a".repeat(11), 10)).toEqual({ text: "a".repeat(10), cut: true });
    expect(redactBody("😀".repeat(6), 11)).toEqual({ text: "😀".repeat(5), cut: true });
  });

  test("media do not count towards the limit, wherever they are", () => {
    const text = JSON.stringify({ image: noise(1_000_000).toBase64(), prompt: "a cat" });
    expect(redactBody(text, 100)).toEqual({ text: '{"image":"[base64, 1000000 bytes]","prompt":"a cat"}', cut: false });
  });

  test("a credential at the limit is not kept in part", () => {
    for (let before = 60; before < 100; before++) {
      const { text } = redactBody(`{"t":"${"x ".repeat(before / 2)}sk-abc123def456ghi789jkl012"}`, 100);
      expect(text).not.toContain("abc1");
    }
  });

  test("hostile texts take linear time: runs, quotes, backslashes, heads of data URLs", () => {
    // Quadratic work on it would take hours.
    const size = 2_000_000;
    for (const text of [
      "a/".repeat(size / 2),
      '"'.repeat(size),
      "\\".repeat(size),
      `"${"\\\\".repeat(size / 2)}"`,
      `"${"data:image/png".repeat(size / 14)}"`,
      `"${";base64,".repeat(size / 8)}"`,
      `"${"data:a/b;base64,".repeat(size / 16)}"`,
      `"${"sk-".repeat(size / 3)}"`,
      `"${'\\"api_key\\":\\"'.repeat(size / 14)}"`,
      "-----BEGIN PRIVATE KEY-----".repeat(size / 27),
      "Bearer ".repeat(size / 7),
      "https://a:".repeat(size / 10),
      "a://:".repeat(size / 5),
      "?key=".repeat(size / 5),
      "aws secret ".repeat(size / 11),
      "AKIAIOSFODNN7EXAMPLE ".repeat(size / 21),
      `"${'\\"token\\":\\"'.repeat(size / 12)}"`,
    ])
      expect(redactBody(text, 262_144).text.length).toBeLessThan(size);
  });
});
