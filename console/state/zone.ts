import { signal } from "@preact/signals";

/** The browser's time zone. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** The zone of every time and day that is shown: that of the page. The frame of the console names it. */
export const shownZone = signal(ownZone());

/** Making one takes longer than using it a hundred times, and a chart of days uses it hundreds of times. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/** Throws if there is no such zone. */
function clockOf(zone: string): Intl.DateTimeFormat {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    clocks.set(zone, clock);
  }
  return clock;
}

function isZone(name: string): boolean {
  try {
    clockOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The zone whose days a page counts: the one in the address, otherwise the browser's. */
export function readZone(query: URLSearchParams): string {
  const named = query.get("zone");
  return named !== null && isZone(named) ? named : ownZone();
}

export const ZONES = (): readonly string[] => ["UTC", ...Intl.supportedValuesOf("timeZone")];

const PARTS = ["year", "month", "day", "hour", "minute", "second"] as const;

/** A moment as the clocks of a zone show it, in the form of `<input type="datetime-local">`. */
export function wallClock(ms: number, zone: string): string {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(new Date(ms))
      .map(({ type, value }) => [type, value]),
  );
  const [year, month, day, hour, minute, second] = PARTS.map((part) => parts.get(part) ?? "00");
  return `${year}-${month}-${day}T${hour}:${minute}:${second}`;
}

const names = new Map<string, Intl.DateTimeFormat>();

/** The zone as clocks are named in it: `UTC`, `CET`, `GMT+9`. It differs between summer and winter. */
export function zoneWord(ms: number, zone: string): string {
  let name = names.get(zone);
  if (name === undefined) {
    name = new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeZoneName: "short" });
    names.set(zone, name);
  }
  return name.formatToParts(new Date(ms)).find(({ type }) => type === "timeZoneName")?.value ?? zone;
}

/** The moment at which the clocks of a zone show a time; the first one if they show it twice. Undefined if it is not a time. */
export function zoned(written: string, zone: string): number | undefined {
  if (!isZone(zone)) return undefined;
  const asUtc = Date.parse(`${written.length === 16 ? `${written}:00` : written}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  const offsetAt = (ms: number): number => Date.parse(`${wallClock(ms, zone)}Z`) - Math.floor(ms / 1_000) * 1_000;
  // The offset of the guess may be that of the other side of a change of clocks.
  const guesses = [asUtc - offsetAt(asUtc - 86_400_000), asUtc - offsetAt(asUtc + 86_400_000)];
  return guesses.find((guess) => offsetAt(guess) === asUtc - guess) ?? guesses[0];
}

/** When the day of this moment began, by the clocks of a zone. */
export const startOfDay = (ms: number, zone: string): number =>
  zoned(`${wallClock(ms, zone).slice(0, 10)}T00:00:00`, zone) ?? ms;
