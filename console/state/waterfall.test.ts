import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { waterfallOf } from "./waterfall.ts";

const offer = (ms: number, outcome: "answered" | "failed" = "answered") => ({
  provider: "p",
  credential: null,
  outcome,
  reason: null,
  ms,
  failure: null,
});
const NO_TIME = {
  provider_first_content_ms: 0,
  provider_stream_ms: 0,
  client_ms: 0,
  backoff_ms: 0,
  queue_ms: 0,
  gateway_ms: 0,
};

describe("decision 0095: where the time of a call went", () => {
  const streamed = {
    stream: true,
    hedged: false,
    total_ms: 2_250,
    offers: [offer(100, "failed"), offer(200)],
    timing: { ...NO_TIME, provider_first_content_ms: 300, provider_stream_ms: 1_740, backoff_ms: 200, gateway_ms: 10 },
  };

  test("attributes streaming time to the provider, not to the gateway", () => {
    expect(waterfallOf(streamed).parts.map(({ label, ms, within }) => [label, ms, within === true])).toEqual([
      ["Gateway", 10, false],
      ["Provider, until first content", 300, false],
      ["p", 100, true],
      ["p", 200, true],
      ["Back-off", 200, false],
      ["Provider, streaming", 1_740, false],
    ]);
  });

  test("draws attempts one after the other, with the pause between them", () => {
    const drawn = waterfallOf(streamed).parts.map(({ label, spans }) => [
      label,
      ...spans.map(({ start, length }) => [Math.round(start * 2_250), Math.round(length * 2_250)]),
    ]);
    expect(drawn).toEqual([
      ["Gateway", [0, 10]],
      ["Provider, until first content", [10, 100], [310, 200]],
      ["p", [10, 100]],
      ["p", [310, 200]],
      ["Back-off", [110, 200]],
      ["Provider, streaming", [510, 1_740]],
    ]);
  });

  test("the parts add up to the total and stay on the track, whatever the attempts took", () => {
    const ms = fc.nat(100_000);
    const timing = fc.record({
      provider_first_content_ms: ms,
      provider_stream_ms: ms,
      client_ms: ms,
      backoff_ms: ms,
      queue_ms: ms,
      gateway_ms: ms,
    });
    const outcome = fc.constantFrom("answered" as const, "failed" as const);
    const offers = fc.array(
      fc.tuple(ms, outcome).map(([took, how]) => offer(took, how)),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(timing, offers, fc.boolean(), fc.boolean(), (parts, tried, hedged, stream) => {
        const total_ms = Object.values(parts).reduce((sum, one) => sum + one, 0);
        const shown = waterfallOf({ offers: tried, hedged, stream, total_ms, timing: parts }).parts;
        const own = shown.filter(({ within }) => within !== true);
        expect(own.reduce((sum, part) => sum + part.ms, 0)).toBe(total_ms);
        for (const { start, length } of shown.flatMap(({ spans }) => spans))
          expect([start >= 0, start + length <= 1 + 1e-9]).toEqual([true, true]);
      }),
    );
  });

  test("parallel attempts end together", () => {
    const timing = { ...NO_TIME, provider_first_content_ms: 100 };
    const hedged = { stream: false, hedged: true, total_ms: 100, offers: [offer(100), offer(40)], timing };
    const ends = waterfallOf(hedged).parts.flatMap(({ spans }) => spans.map(({ start, length }) => start + length));
    expect(new Set(ends)).toEqual(new Set([1]));
  });

  test("what was not recorded is unknown, and not the gateway's", () => {
    const video = { stream: false, hedged: false, total_ms: 100, offers: [offer(20)], timing: null };
    const { parts, isComplete } = waterfallOf(video);
    expect([isComplete, parts.map(({ kind, ms }) => [kind, ms])]).toEqual([
      false,
      [
        ["attempt", 20],
        ["unknown", 80],
      ],
    ]);
  });
});
