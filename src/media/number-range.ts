/** The numbers that a host accepts, both ends inclusive. */
export interface NumberRange {
  min: number;
  max: number;
}

/** The seed itself if the host accepts it. Otherwise a seed that the host accepts, always the same one for a given seed. */
export function foldSeed(seed: number, range: NumberRange | undefined): number {
  if (range === undefined || (seed >= range.min && seed <= range.max)) return seed;
  const count = range.max - range.min + 1;
  return range.min + ((((seed - range.min) % count) + count) % count);
}
