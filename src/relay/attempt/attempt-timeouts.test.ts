import { describe, expect, test } from "bun:test";
import { AttemptTimeouts } from "./attempt-timeouts.ts";

const TIMEOUTS = { firstByte: 60, idle: 120, content: 600, total: 7200 };
const begun = () => new AttemptTimeouts(TIMEOUTS, 0);
const bytes = (text: string) => new TextEncoder().encode(text);

/** Lets something happen every ten units of time; gives when the upstream was given up, and why. */
function livesUntil(timeouts: AttemptTimeouts, happens: (nowMs: number) => void): [number, string] {
  for (let now = 10; now < 100_000; now += 10) {
    happens(now);
    const lost = timeouts.expiredAt(now);
    if (lost !== undefined) return [now, lost];
  }
  return [Number.POSITIVE_INFINITY, ""];
}

describe("H18, H28: how long a provider may take", () => {
  test("nothing at all", () => {
    expect(livesUntil(begun(), () => {})).toEqual([70, "sent nothing for 60 ms"]);
  });

  test("silence inside an answer", () => {
    const timeouts = begun();
    expect(livesUntil(timeouts, (now) => now === 50 && timeouts.received())).toEqual([
      180,
      "sent nothing more for 120 ms",
    ]);
  });

  test("keep-alives are not content, before the first content and after it", () => {
    const before = begun();
    expect(livesUntil(before, () => before.received())).toEqual([610, "sent no content for 600 ms"]);
    const behind = begun();
    let content = 0;
    behind.follow(() => content);
    const lost = livesUntil(behind, (now) => {
      behind.received();
      if (now === 500) content = 7;
    });
    expect(lost).toEqual([1110, "sent no content for 600 ms"]);
  });

  test("blanks in a whole response are not content", () => {
    const timeouts = begun();
    const lost = livesUntil(timeouts, (now) => {
      timeouts.received();
      timeouts.receivedText(bytes(now === 300 ? " \n{" : " \r\n\t "));
    });
    expect(lost).toEqual([910, "sent no content for 600 ms"]);
  });

  test("a response that never ends", () => {
    const timeouts = begun();
    const lost = livesUntil(timeouts, () => {
      timeouts.received();
      timeouts.receivedText(bytes("x"));
    });
    expect(lost).toEqual([7210, "did not finish its response within 7200 ms"]);
  });

  test("after the end of the content only content makes it wait longer, however often the end is expected", () => {
    const timeouts = begun();
    let content = 0;
    timeouts.follow(() => content);
    const lost = livesUntil(timeouts, (now) => {
      timeouts.received();
      if (now >= 100) timeouts.expectEnd(50);
      if (now === 130) content++;
    });
    expect(lost).toEqual([190, "sent nothing more for 50 ms"]);
  });

  test("while the gateway waits for its client, neither silence nor missing content is the provider's fault", () => {
    const timeouts = begun();
    const lost = livesUntil(timeouts, (now) => {
      if (now === 10) timeouts.received();
      if (now === 20) timeouts.pause();
      if (now === 2000) timeouts.resume();
    });
    expect(lost).toEqual([2130, "sent nothing more for 120 ms"]);
  });
});
