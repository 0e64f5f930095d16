const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** No zone changes its offset twice within this. */
const PROBE_MS = 7 * DAY_MS;

/** An offset to UTC, and from when on it holds. */
export interface ZoneOffset {
  sinceMs: number;
  minutes: number;
}

/** A time zone by its IANA name, such as `Europe/Berlin`. */
export class TimeZone {
  readonly name: string;
  /** Undefined for UTC: creating the first formatter takes a tenth of the start-up time. */
  readonly #format: Intl.DateTimeFormat | undefined;

  private constructor(name: string, format?: Intl.DateTimeFormat) {
    this.name = name;
    this.#format = format;
  }

  static readonly utc = new TimeZone("UTC");

  /** Throws if there is no zone of that name. */
  static named(name: string): TimeZone {
    if (name === "UTC") return TimeZone.utc;
    const format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    return new TimeZone(name, format);
  }

  /** What is added to UTC at that moment. */
  minutesAt(ms: number): number {
    if (this.#format === undefined) return 0;
    const name = this.#format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
    // As `GMT`, `GMT+05:30`, or with seconds before zones were agreed upon.
    const [, sign, hours = "0", minutes = "0"] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    const size = Number(hours) * 60 + Number(minutes);
    return sign === "-" ? -size : size;
  }

  /** The first moment of a day, such as `2026-01-31`. Where clocks change at midnight, there is none of that name, or there are two. */
  startOf(date: string): number {
    const localMs = Date.parse(`${date}T00:00Z`);
    const found = [localMs - DAY_MS, localMs + DAY_MS]
      .map((near) => localMs - this.minutesAt(near) * MINUTE_MS)
      .filter((ms) => ms + this.minutesAt(ms) * MINUTE_MS >= localMs);
    return Math.min(...found);
  }

  /** Every offset that holds in the range, in order; the first one from `fromMs` on. */
  offsets(fromMs: number, toMs: number): ZoneOffset[] {
    const found: ZoneOffset[] = [{ sinceMs: fromMs, minutes: this.minutesAt(fromMs) }];
    for (let at = fromMs; at < toMs; at += PROBE_MS) {
      const next = Math.min(toMs, at + PROBE_MS);
      const minutes = this.minutesAt(next);
      if (minutes === found.at(-1)?.minutes) continue;
      found.push({ sinceMs: this.#changeBetween(at, next), minutes });
    }
    return found;
  }

  /** The first minute at which the offset is that of the end. */
  #changeBetween(fromMs: number, toMs: number): number {
    const minutes = this.minutesAt(toMs);
    let low = Math.floor(fromMs / MINUTE_MS);
    let high = Math.ceil(toMs / MINUTE_MS);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.minutesAt(middle * MINUTE_MS) === minutes) high = middle;
      else low = middle;
    }
    return high * MINUTE_MS;
  }
}
