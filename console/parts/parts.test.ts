import { describe, expect, test } from "bun:test";
import { volumeOf } from "./call-volume.tsx";
import { stacked } from "./chart.tsx";
import { sparkPath } from "./sparkline.tsx";
import { failureWords, spansOf } from "./timeline.tsx";

const offer = (ms: number, outcome: "answered" | "failed" = "answered") => ({
  provider: "p",
  credential: null,
  outcome,
  reason: null,
  ms,
  failure: null,
});

describe("the timeline of a call", () => {
  test("offers follow each other; what the gateway did itself comes first", () => {
    const spans = spansOf({ offers: [offer(20, "failed"), offer(70)], total_ms: 100, hedged: false });
    expect(spans.map(({ start, length }) => [start, length])).toEqual(
      [
        [0.1, 0.2],
        [0.3, 0.7],
      ].map(([start, length]) => [expect.closeTo(start ?? 0), expect.closeTo(length ?? 0)]),
    );
  });

  test("offers that were at work at once end together, and none leaves the track", () => {
    const spans = spansOf({ offers: [offer(100), offer(40)], total_ms: 100, hedged: true });
    expect(spans.map(({ start, length }) => start + length)).toEqual([1, 1]);
    for (const { start, length } of spansOf({ offers: [offer(900)], total_ms: 100, hedged: false }))
      expect([start >= 0, start + length <= 1]).toEqual([true, true]);
  });

  test("what a provider said is text", () => {
    expect(failureWords({ provider: "p", status: 529, said: "<b>no</b>", errno: null })).toBe(
      "status: 529 · said: <b>no</b>",
    );
  });
});

describe("charts", () => {
  test("a stack ends at the sum", () => {
    const series = [1, 2, 3].map((value) => ({ name: String(value), tone: "one" as const, values: [value, null] }));
    expect(stacked(series)).toEqual([
      [1, 0],
      [3, 0],
      [6, 0],
    ]);
  });

  test("a volume has a bar for every part, with 0 where nothing was", () => {
    const row = { group: "1970-01-01T01:00:00Z", calls: 5, failures: 1 } as Parameters<typeof volumeOf>[0][number];
    const volume = volumeOf([row], 3_600_000, 0, 3 * 3_600_000);
    expect(volume.calls).toEqual([0, 5, 0]);
    expect(volume.failures).toEqual([0, 1, 0]);
  });

  test("a curve without values is a line at the bottom", () => {
    expect(sparkPath([0, 0], 100, 20)).toBe("M0 19H100");
    expect(sparkPath([0, 2], 100, 20)).toBe("M0.0 19.0L100.0 2.0");
  });
});
