import { describe, expect, test } from "bun:test";
import type { BreakerSettings } from "../../canon/routing-settings.ts";
import { Breaker, MAX_OPEN_MS } from "./breaker.ts";

const SETTINGS: BreakerSettings = { failures: 3, windowMs: 1000, openMs: 100 };
/** In the middle: every pause has its plain length. */
const PLAIN = () => 0.5;

/** A breaker at a moment that is not zero. */
function made(settings: Partial<BreakerSettings> = {}, random = PLAIN) {
  let nowMs = 50_000;
  const breaker = new Breaker({ ...SETTINGS, ...settings }, random);
  return {
    breaker,
    state: () => breaker.stateAt(nowMs),
    pass: (ms: number) => {
      nowMs += ms;
    },
    fail: (attempt: object = {}) => breaker.fail(attempt, nowMs),
    trip: (attempt: object = {}) => breaker.trip(attempt, nowMs),
    answer: (tookMs = 0) => breaker.answer(nowMs - tookMs, nowMs),
    begin: () => {
      const attempt = {};
      breaker.begin(attempt, nowMs);
      return attempt;
    },
    forget: (attempt: object) => breaker.forget(attempt),
    /** How long it will be left alone from now. */
    leftMs: () => breaker.openUntilMs - nowMs,
  };
}

/** One that has just opened. */
function opened(settings: Partial<BreakerSettings> = {}, random = PLAIN) {
  const one = made(settings, random);
  for (let at = 0; at < 3; at++) one.fail();
  return one;
}

describe("choices 8, H19: a breaker opens", () => {
  test("after the configured number of failures, and not before", () => {
    const { state, fail, breaker } = made();
    expect([state(), breaker.openUntilMs]).toEqual(["closed", 0]);
    fail();
    fail();
    expect(state()).toBe("closed");
    fail();
    expect(state()).toBe("open");
  });

  test("where they fall within the window, its last millisecond included", () => {
    const within = made();
    within.fail();
    within.pass(500);
    within.fail();
    within.pass(500);
    within.fail();
    expect(within.state()).toBe("open");
    const beyond = made();
    beyond.fail();
    beyond.pass(500);
    beyond.fail();
    beyond.pass(501);
    beyond.fail();
    expect(beyond.state()).toBe("closed");
    // The first of them is too old now, and the last three are counted.
    beyond.fail();
    expect(beyond.state()).toBe("open");
  });

  test("where they are at least half of all calls since the first of them", () => {
    const half = made();
    half.fail();
    for (let at = 0; at < 3; at++) half.answer();
    half.fail();
    half.fail();
    expect(half.state()).toBe("open");
    const fewer = made();
    fewer.fail();
    for (let at = 0; at < 4; at++) fewer.answer();
    fewer.fail();
    fewer.fail();
    expect(fewer.state()).toBe("closed");
    // What was answered before the first of those that count is not held against them.
    fewer.fail();
    expect(fewer.state()).toBe("open");
  });

  test("a host that answers most calls stays in use, however many fail", () => {
    const { state, fail, answer, pass } = made();
    for (let at = 0; at < 1000; at++) {
      if (at % 3 === 0) fail();
      else answer();
      pass(1);
    }
    expect(state()).toBe("closed");
  });

  test("one failure is enough if it is tripped", () => {
    const { state, trip, leftMs } = made();
    trip();
    expect([state(), leftMs()]).toEqual(["open", 100]);
  });

  test("a single failure opens one that allows none", () => {
    const { state, fail } = made({ failures: 1 });
    fail();
    expect(state()).toBe("open");
  });
});

describe("an open breaker", () => {
  test("is open until its time is up, then half open", () => {
    const { state, pass, leftMs } = opened();
    expect(leftMs()).toBe(100);
    pass(99);
    expect(state()).toBe("open");
    pass(1);
    expect(state()).toBe("half_open");
  });

  test("the pause is up to a fifth longer or shorter, by chance", () => {
    expect(opened({}, () => 0).leftMs()).toBeCloseTo(80, 6);
    expect(opened({}, () => 1).leftMs()).toBeCloseTo(120, 6);
  });

  test("failures meanwhile make no difference: calls from before it opened, and calls for lack of alternatives", () => {
    const { fail, trip, leftMs, pass, begin } = opened();
    pass(10);
    fail();
    trip();
    fail(begin());
    expect(leftMs()).toBe(90);
  });

  test("an answer to a call from before it opened does not close it", () => {
    const { state, answer, pass } = opened();
    pass(10);
    answer(11);
    expect(state()).toBe("open");
    // Nor does it when its time is up.
    pass(95);
    answer(106);
    expect(state()).toBe("half_open");
  });

  test("an answer to a call that was made all the same does", () => {
    const { state, answer, pass } = opened();
    pass(10);
    answer(10);
    expect(state()).toBe("closed");
  });
});

describe("a half-open breaker", () => {
  function halfOpen() {
    const one = opened();
    one.pass(100);
    return one;
  }

  test("lets one probe through at a time: for all others it is open", () => {
    const { state, begin, forget } = halfOpen();
    const probe = begin();
    expect(state()).toBe("open");
    // This one was called for want of anything better, and is no probe.
    forget(begin());
    expect(state()).toBe("open");
    forget(probe);
    expect(state()).toBe("half_open");
  });

  test("a call before that is not a probe", () => {
    const { state, begin, pass } = opened();
    begin();
    pass(100);
    expect(state()).toBe("half_open");
  });

  test("closes when the probe is answered", () => {
    const { state, begin, answer, pass, breaker } = halfOpen();
    begin();
    pass(20);
    answer(20);
    expect([state(), breaker.openUntilMs]).toEqual(["closed", 0]);
  });

  test("opens again for twice as long each time that the probe fails, within a bound", () => {
    const { state, begin, fail, leftMs, pass } = halfOpen();
    for (let pauseMs = 200; pauseMs < MAX_OPEN_MS; pauseMs *= 2) {
      fail(begin());
      expect([state(), leftMs()]).toEqual(["open", pauseMs]);
      pass(pauseMs);
      expect(state()).toBe("half_open");
    }
    for (let more = 0; more < 40; more++) {
      fail(begin());
      expect(leftMs()).toBe(MAX_OPEN_MS);
      pass(MAX_OPEN_MS);
    }
  });

  test("a configured pause beyond the bound is kept, and does not grow", () => {
    const { begin, fail, leftMs, pass } = opened({ openMs: MAX_OPEN_MS * 2 });
    expect(leftMs()).toBe(MAX_OPEN_MS * 2);
    pass(MAX_OPEN_MS * 2);
    fail(begin());
    expect(leftMs()).toBe(MAX_OPEN_MS * 2);
  });

  test("the same where one failure is enough", () => {
    const { begin, trip, leftMs } = halfOpen();
    trip(begin());
    expect(leftMs()).toBe(200);
  });

  test("a probe without an outcome is given up after a minute", () => {
    const { state, begin, pass } = halfOpen();
    begin();
    pass(59_999);
    expect(state()).toBe("open");
    pass(1);
    expect(state()).toBe("half_open");
    begin();
    expect(state()).toBe("open");
  });

  test("other failures do not end the probe", () => {
    const { state, begin, fail, leftMs } = halfOpen();
    begin();
    fail();
    expect([state(), leftMs()]).toEqual(["open", 0]);
  });

  test("a failed probe is no longer the probe", () => {
    const { begin, fail, leftMs } = halfOpen();
    const probe = begin();
    fail(probe);
    fail(probe);
    expect(leftMs()).toBe(200);
  });
});

describe("a breaker that was closed again", () => {
  function recovered(settings: Partial<BreakerSettings> = {}) {
    const one = opened(settings);
    one.pass(100);
    one.begin();
    one.answer();
    return one;
  }

  test("opens at once where it fails again within the window, and for longer", () => {
    const { state, fail, leftMs, pass } = recovered();
    pass(100);
    fail();
    expect([state(), leftMs()]).toEqual(["open", 200]);
  });

  test("forgets its first pause when a window has passed", () => {
    const relapsed = recovered();
    relapsed.pass(1000);
    relapsed.trip();
    expect(relapsed.leftMs()).toBe(200);
    const healthy = recovered();
    healthy.pass(1001);
    healthy.trip();
    expect(healthy.leftMs()).toBe(100);
  });

  test("needs as many failures as before then", () => {
    const { state, fail, pass } = recovered();
    pass(1001);
    fail();
    fail();
    expect(state()).toBe("closed");
    fail();
    expect(state()).toBe("open");
  });

  test("stays closed where calls are answered in between", () => {
    const { state, fail, answer } = recovered();
    for (let at = 0; at < 3; at++) answer();
    fail();
    expect(state()).toBe("closed");
  });
});

describe("a new configuration", () => {
  test("resets it as if nothing had failed", () => {
    const { breaker, state, fail, trip, leftMs, pass } = opened();
    pass(100);
    breaker.begin({}, 50_100);
    breaker.reset();
    expect([state(), breaker.openUntilMs]).toEqual(["closed", 0]);
    fail();
    fail();
    expect(state()).toBe("closed");
    trip();
    expect(leftMs()).toBe(100);
    pass(100);
    expect(state()).toBe("half_open");
  });

  test("changes when it opens, and for how long", () => {
    const { breaker, state, fail, leftMs } = made();
    fail();
    fail();
    breaker.configure({ failures: 3, windowMs: 1000, openMs: 700 });
    fail();
    expect(leftMs()).toBe(700);
    const other = made();
    other.fail();
    other.fail();
    other.breaker.configure({ failures: 2, windowMs: 1000, openMs: 100 });
    other.fail();
    expect(other.state()).toBe("closed");
    other.fail();
    expect(other.state()).toBe("open");
    expect(state()).toBe("open");
  });

  test("does not change a pause", () => {
    const { breaker, leftMs } = opened();
    breaker.configure({ failures: 9, windowMs: 1, openMs: 1 });
    expect(leftMs()).toBe(100);
  });
});
