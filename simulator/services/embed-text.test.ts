import { describe, expect, test } from "bun:test";
import { embedText } from "./embed-text.ts";
import { rankDocuments } from "./score-document.ts";

const product = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
const likeness = (one: string, other: string, size = 1536) => product(embedText(one, size), embedText(other, size));

describe("embeddings by words", () => {
  test("the same text has the same vector, of length 1, in 32-bit numbers", () => {
    const vector = embedText("The cat sat on the mat.", 512);
    expect(embedText("The cat sat on the mat.", 512)).toEqual(vector);
    expect(product(vector, vector)).toBeCloseTo(1, 5);
    expect([...Float32Array.from(vector)]).toEqual(vector);
  });

  test("order, case and punctuation do not count; other forms of a word are near, other words far", () => {
    expect(likeness("The cat sat.", "sat, the CAT!")).toBeCloseTo(1, 5);
    expect(likeness("cats", "cat")).toBeGreaterThan(0.2);
    expect(likeness("a cat sleeps on the sofa", "stocks fell on Monday")).toBeLessThan(0.15);
  });

  test("a shorter vector is a prefix of a longer one, and distinguishes the same texts", () => {
    const short = embedText("a red fox", 256);
    const cut = embedText("a red fox", 1024).slice(0, 256);
    expect(product(short, cut) / Math.sqrt(product(cut, cut))).toBeCloseTo(1, 5);
    expect(likeness("a red fox", "the fox is red", 256)).toBeGreaterThan(likeness("a red fox", "a deep sea", 256));
  });

  test("texts without words differ, and any text has a vector", () => {
    expect(likeness("!!!", "???")).toBeLessThan(0.2);
    for (const text of ["", "日本語", "🦊", "\ud800"])
      expect(product(embedText(text, 64), embedText(text, 64))).toBeCloseTo(1, 4);
  });

  test("documents are ranked by the words of the query that they have", () => {
    const documents = ["The sea is deep.", "Foxes live in dens.", "A fox is an animal."];
    expect(rankDocuments("Where do foxes live?", documents).map(({ index }) => index)).toEqual([1, 2, 0]);
  });
});
