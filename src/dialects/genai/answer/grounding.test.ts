import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../base/cpu-time.sample.ts";
import { decodeCitations, GroundingWriter } from "./grounding.ts";

/** Two bytes per character, and so long that scanning it for each citation would take seconds. */
const TEXT = "ä".repeat(1024 * 1024);
const COUNT = 5000;

const cpuOf = (work: () => unknown): number => {
  const before = cpuMs();
  work();
  return cpuMs() - before;
};

describe("S18: thousands of citations of a long text", () => {
  const grounding = (segment: (index: number) => object) => ({
    groundingChunks: [{ web: { uri: "https://a.test", title: "a" } }],
    groundingSupports: Array.from({ length: COUNT }, (_, index) => ({
      segment: segment(index),
      groundingChunkIndices: [0],
    })),
  });

  test("get their positions in one pass over the text", () => {
    const far = 2 * 1024 * 1024 - 2 * COUNT;
    const answer = grounding((index) => ({ startIndex: far + 2 * index, endIndex: far + 2 * index + 2, text: "ä" }));
    let ranges: unknown[] = [];
    const cost = cpuOf(() => {
      ranges = decodeCitations(answer, [], TEXT).map(({ range }) => range);
    });
    expect(ranges.at(-1)).toEqual({ start: TEXT.length - 1, end: TEXT.length });
    expect(cost).toBeLessThan(1000);
  });

  test("are searched for within limits if their text does not occur", () => {
    const answer = grounding((index) => ({ startIndex: 1, endIndex: 2, text: `missing ${index}` }));
    let found: readonly unknown[] = [];
    const cost = cpuOf(() => {
      found = decodeCitations(answer, [], TEXT);
    });
    expect([found.length, cost < 2000]).toEqual([COUNT, true]);
  });

  test("do not repeat the text without limit", () => {
    const writer = new GroundingWriter();
    writer.text(0, TEXT);
    for (let index = 0; index < COUNT; index++)
      writer.cite(0, { type: "web", url: "https://a.test", start: 0, end: TEXT.length - index });
    let written = "";
    const cost = cpuOf(() => {
      written = JSON.stringify(writer.metadata());
    });
    expect(cost).toBeLessThan(1000);
    expect(written.length).toBeLessThan(3 * TEXT.length);
    expect(written).toContain(`"endIndex":${2 * (TEXT.length - COUNT + 1)}`);
  });
});
