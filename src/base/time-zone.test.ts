import { expect, test } from "bun:test";
import { TimeZone } from "./time-zone.ts";

test("a day begins at its first moment, also where clocks change at midnight", () => {
  for (const [zone, date, start] of [
    ["UTC", "2026-11-01", "2026-11-01T00:00Z"],
    ["Asia/Kolkata", "2026-11-01", "2026-10-31T18:30Z"],
    // Clocks change two hours after midnight.
    ["America/New_York", "2026-03-08", "2026-03-08T05:00Z"],
    ["America/New_York", "2026-03-09", "2026-03-09T04:00Z"],
    ["America/New_York", "2026-11-01", "2026-11-01T04:00Z"],
    ["America/New_York", "2026-11-02", "2026-11-02T05:00Z"],
    // Midnight is left out.
    ["America/Havana", "2026-03-08", "2026-03-08T05:00Z"],
    ["Asia/Beirut", "2026-03-29", "2026-03-28T22:00Z"],
    // Midnight comes twice.
    ["America/Havana", "2026-11-01", "2026-11-01T04:00Z"],
    ["Asia/Beirut", "2026-10-25", "2026-10-24T22:00Z"],
  ] as const) {
    expect([zone, new Date(TimeZone.named(zone).startOf(date)).toISOString()]).toEqual([
      zone,
      new Date(start).toISOString(),
    ]);
  }
});
