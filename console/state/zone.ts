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

/** Clocks are changed at quarters of an hour. */
const QUARTER_MS = 900_000;
const MOST_OFFSETS = 10_000;
const offsets = new Map<string, number>();

/** How far the clocks of a zone are ahead. Lists and charts ask for hundreds of times, and formatting each takes too long. */
function offsetAt(ms: number, zone: string): number {
  const quarter = Math.floor(ms / QUARTER_MS);
  const name = `${zone} ${quarter}`;
  let offset = offsets.get(name);
  if (offset === undefined) {
    if (offsets.size >= MOST_OFFSETS) offsets.clear();
    const parts = new Map(
      clockOf(zone)
        .formatToParts(new Date(quarter * QUARTER_MS))
        .map(({ type, value }) => [type, value]),
    );
    const [year, month, day, hour, minute, second] = PARTS.map((part) => parts.get(part) ?? "00");
    offset = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - quarter * QUARTER_MS;
    offsets.set(name, offset);
  }
  return offset;
}

/** A moment as the clocks of a zone show it, in the form of `<input type="datetime-local">`. */
export const wallClock = (ms: number, zone: string): string =>
  new Date(ms + offsetAt(ms, zone)).toISOString().slice(0, 19);

const names = new Map<string, string>();

/** The zone as clocks are named in it: `UTC`, `CET`, `GMT+9`. It differs between summer and winter. */
export function zoneWord(ms: number, zone: string): string {
  const key = `${zone} ${offsetAt(ms, zone)}`;
  let name = names.get(key);
  if (name === undefined) {
    const parts = new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeZoneName: "short" }).formatToParts(ms);
    name = parts.find(({ type }) => type === "timeZoneName")?.value ?? zone;
    names.set(key, name);
  }
  return name;
}

/** The moment at which the clocks of a zone show a time; the first one if they show it twice. Undefined if it is not a time. */
export function zoned(written: string, zone: string): number | undefined {
  if (!isZone(zone)) return undefined;
  const asUtc = Date.parse(`${written.length === 16 ? `${written}:00` : written}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  // The offset of the guess may be that of the other side of a change of clocks.
  const guesses = [asUtc - offsetAt(asUtc - 86_400_000, zone), asUtc - offsetAt(asUtc + 86_400_000, zone)];
  return guesses.find((guess) => offsetAt(guess, zone) === asUtc - guess) ?? guesses[0];
}

/** When the day of this moment began, by the clocks of a zone. */
export const startOfDay = (ms: number, zone: string): number =>
  zoned(`${wallClock(ms, zone).slice(0, 10)}T00:00:00`, zone) ?? ms;
