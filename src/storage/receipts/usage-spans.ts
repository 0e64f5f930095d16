/** From the first to before the second: hours or days since 1970, or milliseconds. */
export type TimeSpan = readonly [from: number, until: number];

/** A time that is in another day in the zone than in UTC; both as days since 1970. */
export interface MovedSpan {
  span: TimeSpan;
  utcDay: number;
  zoneDay: number;
}

/** Where the parts of a range are read. Together they cover each moment once. */
export interface UsageSources {
  days: readonly TimeSpan[];
  hours: readonly TimeSpan[];
  /** In milliseconds: parts that roll-ups are too coarse for. */
  receipts: readonly TimeSpan[];
  /**
   * For groups by days of a zone, when days and hours are read in UTC: the part that belongs to another day. It is
   * subtracted from one and added to the other.
   */
  moved?: {
    hours: readonly MovedSpan[];
    /** In milliseconds. */
    receipts: readonly MovedSpan[];
  };
}
