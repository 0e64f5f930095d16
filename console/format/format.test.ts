import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { shownZone } from "../state/zone.ts";
import { money, usd } from "./money.ts";
import { bytes, duration, percent, short, speed } from "./numbers.ts";
import { ago, day, full, when } from "./time.ts";

describe("amounts of money", () => {
  test("nine decimals show every nano-dollar", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_000_000_000_000 }), (nano) => {
        expect(Number(usd(nano, 9).replaceAll(/[$,.]/g, ""))).toBe(nano);
      }),
    );
  });

  test.each([
    [0, "$0"],
    [1, "$0.000000001"],
    [3_612_000, "$0.00361"],
    [103_400, "$0.000103"],
    [12_345_678, "$0.0123"],
    [495_300_000, "$0.495"],
    [1_234_500_000, "$1.23"],
    [-1_235_000_000, "−$1.24"],
    [1_234_567_890_000_000, "$1,234,568"],
  ])("%p nano-dollars are shown as %p", (nano, shown) => expect(money(nano)).toBe(shown));
});

describe("figures", () => {
  test.each([
    [0.4, "0.4 ms"],
    [840, "840 ms"],
    [1_240, "1.24 s"],
    [61_000, "61.0 s"],
    [125_000, "2 min 05 s"],
  ])("%p ms is shown as %p", (ms, shown) => expect(duration(ms)).toBe(shown));

  test.each([
    [0, "0 bytes"],
    [1_023, "1,023 bytes"],
    [1_536, "1.5 kB"],
    [10 * 1024 ** 3, "10 GB"],
  ])("%p bytes are shown as %p", (size, shown) => expect(bytes(size)).toBe(shown));

  test("percentages", () => {
    expect([percent(0, 0), percent(0, 5), percent(1, 10_000), percent(1, 40), percent(3, 4)]).toEqual([
      "–",
      "0%",
      "< 0.1%",
      "2.5%",
      "75%",
    ]);
  });

  test("a speed needs tokens and time", () => {
    expect(speed(100, 500, 1_500)).toBe(100);
    expect(speed(null, 500, 1_500)).toBeNull();
    expect(speed(100, 500, 500)).toBeNull();
  });

  test("large numbers are abbreviated", () => expect([short(9_999), short(1_240_000)]).toEqual(["9,999", "1.24M"]));

  test("times and dates are those of one zone, which is named where a time stands alone", () => {
    const moment = "2026-11-18T23:30:05Z";
    const own = shownZone.value;
    const shown = ["UTC", "Asia/Tokyo", "America/New_York"].map((zone) => {
      shownZone.value = zone;
      return [full(moment), when(moment, Date.parse("2026-11-19T00:10:00Z")), day("2026-11-18")];
    });
    shownZone.value = own;
    expect(shown).toEqual([
      ["18 Nov 2026, 23:30:05 UTC", "18 Nov, 23:30:05", "18 Nov"],
      ["19 Nov 2026, 08:30:05 GMT+9", "08:30:05", "18 Nov"],
      ["18 Nov 2026, 18:30:05 GMT-5", "18:30:05", "18 Nov"],
    ]);
  });

  test("relative times", () => {
    expect(ago(0, 600_000)).toBe("10 min ago");
    expect(ago(600_000, 0)).toBe("in 10 min");
  });
});
