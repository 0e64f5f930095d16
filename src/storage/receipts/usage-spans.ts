/** From the first to before the second: numbers of hours or of days since 1970, or milliseconds. */
export type Span = readonly [from: number, until: number];

/** A time that is in another day of the zone than of UTC; both by their numbers since 1970. */
export interface MovedSpan {
  span: Span;
  utcDay: number;
  zoneDay: number;
}

/** Where the parts of a range are read. Together they hold each of its moments once. */
export interface UsageSources {
  days: readonly Span[];
  hours: readonly Span[];
  /** In milliseconds: what roll-ups are too coarse for. */
  receipts: readonly Span[];
  /**
   * For groups by days of a zone, where days and hours are read as those of UTC: what of them is in another day. It is taken from the one
   * and given to the other.
   */
  moved?: {
    hours: readonly MovedSpan[];
    /** In milliseconds. */
    receipts: readonly MovedSpan[];
  };
}
