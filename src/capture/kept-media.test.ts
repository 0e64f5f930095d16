import { describe, expect, test } from "bun:test";
import { KeptMedia } from "./kept-media.ts";
import { redactBody } from "./redact-body.ts";

const noise = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 7919) % 251));
const png = (bytes = 3_000) => Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), noise(bytes - 8)]);
const riff = (form: string) =>
  Buffer.concat([Buffer.from(`RIFF\u0001\u0002\u0003\u0004${form}fmt `, "latin1"), noise(1_000)]);

describe("0074: images and audio are kept with the bodies if the configuration enables it", () => {
  test("the type follows from the bytes, whatever the sender claims", () => {
    const media = new KeptMedia(1_000_000);
    const given = [png(), riff("WEBP"), riff("WAVE"), Buffer.concat([Buffer.from("ID3"), noise(999)])];
    expect(given.map((bytes) => media.add(bytes.toBase64()))).toEqual([1, 2, 3, 4]);
    expect(media.list.map(({ type, bytes }) => [type, bytes])).toEqual([
      ["image/png", 3_000],
      ["image/webp", 1_016],
      ["audio/wav", 1_016],
      ["audio/mpeg", 1_002],
    ]);
    expect(Buffer.from(media.list[0]?.data ?? "", "base64").equals(png())).toBe(true);
  });

  test("S14: a type that can contain a script is never kept", () => {
    const media = new KeptMedia(1_000_000);
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${"x".repeat(300)}</svg>`;
    const html = `<html><script>alert(1)</script>${"x".repeat(300)}</html>`;
    for (const type of ["image/svg+xml", "image/png", "text/html", "audio/mpeg"])
      for (const text of [svg, html]) {
        const body = JSON.stringify({ url: `data:${type};base64,${Buffer.from(text).toBase64()}` });
        expect(redactBody(body, 100_000, media).text).not.toContain("medium");
      }
    expect(media.list).toEqual([]);
  });

  test("a medium that occurs twice is kept once, and both sides of a call refer to it", () => {
    const media = new KeptMedia(1_000_000);
    const came = redactBody(JSON.stringify({ url: `data:image/png;base64,${png().toBase64()}` }), 100_000, media);
    const wentOut = redactBody(JSON.stringify({ data: png().toBase64() }).replaceAll("/", "\\/"), 100_000, media);
    expect([came.text, wentOut.text]).toEqual([
      '{"url":"[image/png, 3000 bytes, medium 1]"}',
      '{"data":"[image/png, 3000 bytes, medium 1]"}',
    ]);
    expect(media.list).toHaveLength(1);
  });

  test("the bytes of a call and the number of media are limited; the rest is only mentioned", () => {
    const media = new KeptMedia(5_000);
    expect([
      media.add(png(3_000).toBase64()),
      media.add(png(2_500).toBase64()),
      media.add(png(1_900).toBase64()),
    ]).toEqual([1, undefined, 2]);
    const many = new KeptMedia(1_000_000);
    const numbers = Array.from({ length: 20 }, (_, index) => many.add(png(300 + index).toBase64()));
    expect(numbers.filter((number) => number !== undefined)).toHaveLength(16);
    const none = new KeptMedia(0);
    expect([none.add(png().toBase64()), none.list]).toEqual([undefined, []]);
  });

  test("invalid base64 is not kept", () => {
    const media = new KeptMedia(1_000_000);
    expect(media.add(`${png().toBase64().slice(0, 400)}\\n<script>`)).toBeUndefined();
    expect(media.add(`${png().toBase64().slice(0, 401)}`)).toBeUndefined();
    expect(media.list).toEqual([]);
  });
});
