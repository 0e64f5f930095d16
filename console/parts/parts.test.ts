import { describe, expect, test } from "bun:test";
import { volumeOf } from "./call-volume.tsx";
import { spanShown, stacked } from "./chart.tsx";
import { correctionOf } from "./cost-sheet.tsx";
import { failureWords, partsOf, spansOf } from "./timeline.tsx";

const offer = (ms: number, outcome: "answered" | "failed" = "answered") => ({
  provider: "p",
  credential: null,
  outcome,
  reason: null,
  ms,
  failure: null,
});

describe("decision 0085: corrected usage", () => {
  const NOTHING = {
    input: null,
    cache_read: null,
    cache_write_5m: null,
    cache_write_1h: null,
    output: null,
    reasoning: null,
    image_input: null,
    audio_input: null,
    image_output: null,
    audio_output: null,
    images: null,
    seconds: null,
    characters: null,
    searches: null,
    tools: null,
  };
  const usage = { ...NOTHING, input: 10, output: 4 };

  test("is shown next to the billed usage, with the reasons", () => {
    const reported = { ...NOTHING, input: 10, output: 9_000, reasoning: 7 };
    expect(correctionOf({ reported, usage, usage_corrections: ["output_above_limit"] })).toEqual({
      reasons: ["more tokens than the request, the model or the response text allows"],
      rows: [
        { counter: "output", claimed: 9_000, billed: 4 },
        { counter: "reasoning", claimed: 7, billed: null },
      ],
    });
  });

  test("an unknown reason is shown by its name", () => {
    const corrected = { reported: usage, usage, usage_corrections: ["of_the_next_version"] };
    expect(correctionOf(corrected)).toEqual({ reasons: ["of the next version"], rows: [] });
  });

  test("nothing is shown if the provider's figures were billed", () => {
    expect(correctionOf({ reported: null, usage, usage_corrections: [] })).toBeUndefined();
  });
});

describe("the timeline of a call", () => {
  const plain = { verb: "generate", first_content_ms: null, stream: false, hedged: false, timing: null };
  const timing = {
    provider_first_content_ms: 300,
    provider_stream_ms: 1_740,
    client_ms: 0,
    backoff_ms: 200,
    queue_ms: 0,
    gateway_ms: 10,
  };

  test("attributes streaming time to the provider, not to the gateway", () => {
    const call = { ...plain, stream: true, first_content_ms: 510, total_ms: 2_250, timing };
    const spans = spansOf({ ...call, offers: [offer(100, "failed"), offer(200)] });
    const shares = spans.map(({ start, length, streams }) => [start, length, streams].map((of) => of * 2_250));
    expect(shares).toEqual(
      [
        [10, 100, 0],
        [310, 200, 1_740],
      ].map((row) => row.map((ms) => expect.closeTo(ms))),
    );
    expect(partsOf(call)?.map(({ label, ms }) => [label, ms])).toEqual([
      ["provider, until first content", 300],
      ["provider, streaming", 1_740],
      ["back-off between retries", 200],
      ["gateway", 10],
    ]);
    expect(partsOf({ timing: null })).toBeUndefined();
  });

  test("shows the gateway's own time first, then the offers in order", () => {
    const spans = spansOf({ ...plain, offers: [offer(20, "failed"), offer(70)], total_ms: 100 });
    expect(spans.map(({ start, length }) => [start, length])).toEqual(
      [
        [0.1, 0.2],
        [0.3, 0.7],
      ].map(([start, length]) => [expect.closeTo(start ?? 0), expect.closeTo(length ?? 0)]),
    );
  });

  test("parallel offers end together, and none extends beyond the track", () => {
    const spans = spansOf({ ...plain, offers: [offer(100), offer(40)], total_ms: 100, hedged: true });
    expect(spans.map(({ start, length }) => start + length)).toEqual([1, 1]);
    for (const { start, length } of spansOf({ ...plain, offers: [offer(900)], total_ms: 100 }))
      expect([start >= 0, start + length <= 1]).toEqual([true, true]);
  });

  test("the submission of a video job comes first", () => {
    const spans = spansOf({ ...plain, verb: "videos", offers: [offer(20)], total_ms: 100 });
    expect(spans.map(({ start, length }) => [start, length])).toEqual([[0, 0.2]]);
  });

  test("shows the provider's message as text", () => {
    expect(failureWords({ provider: "p", status: 529, said: "<b>no</b>", errno: null })).toBe(
      "status: 529 · message: <b>no</b>",
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

  test("a volume has a bar for every interval, 0 if there were no calls", () => {
    const row = { group: "1970-01-01T01:00:00Z", calls: 5, failures: 1 } as Parameters<typeof volumeOf>[0][number];
    const volume = volumeOf([row], 3_600_000, 0, 3 * 3_600_000);
    expect(volume.calls).toEqual([0, 5, 0]);
    expect(volume.failures).toEqual([0, 1, 0]);
  });
});

describe("the time span of a chart", () => {
  const DAY = 86_400_000;

  test("data for one day still shows all thirty days", () => {
    const shown = spanShown({ times: [29.2 * DAY], everyMs: DAY, kind: "bars", span: [0, 30 * DAY] });
    expect(shown).toEqual([0, 30.2 * DAY]);
  });

  test("a first bar that starts before the range is shown in full", () => {
    expect(spanShown({ times: [5, 15], everyMs: 10, kind: "bars", span: [9, 20] })).toEqual([5, 25]);
  });

  test("a single point, or none, still has a width", () => {
    expect(spanShown({ times: [7], everyMs: 10, kind: "lines" })).toEqual([7, 17]);
    expect(spanShown({ times: [], everyMs: 10, kind: "lines" })).toEqual([0, 10]);
  });
});
