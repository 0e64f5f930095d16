/** From the first to before the second: numbers of hours or of days since 1970, or milliseconds. */
export type Span = readonly [from: number, until: number];

/** Where the parts of a range are read. Together they hold each of its moments once. */
export interface UsageSources {
  days: readonly Span[];
  hours: readonly Span[];
  /** In milliseconds: what roll-ups are too coarse for. */
  receipts: readonly Span[];
}
