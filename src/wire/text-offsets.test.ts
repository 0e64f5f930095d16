import { expect, test } from "bun:test";
import { TextOffsets } from "./text-offsets.ts";

const TEXTS = ["", "plain", "äöü €uro 🚀 漢字", "x".repeat(1023) + "🚀".repeat(700), "ä".repeat(5000)];

test.each(TEXTS.map((text) => [text.slice(0, 20), text] as const))(
  "offsets in characters and bytes agree: %s",
  (_name, text) => {
    const offsets = new TextOffsets(text);
    let at = 0;
    for (const character of text) {
      const bytes = Buffer.byteLength(text.slice(0, at));
      expect([offsets.bytesAt(at), offsets.charactersAt(bytes)]).toEqual([bytes, at]);
      if (Buffer.byteLength(character) > 1) expect(offsets.charactersAt(bytes + 1)).toBeUndefined();
      at += character.length;
    }
    const all = Buffer.byteLength(text);
    expect([offsets.bytesAt(at), offsets.charactersAt(all), offsets.charactersAt(all + 1)]).toEqual([
      all,
      at,
      undefined,
    ]);
  },
);
