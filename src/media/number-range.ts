/** The numbers that a host takes, both ends included. */
export interface NumberRange {
  min: number;
  max: number;
}

/** The seed itself where the host takes it; else one that it takes, the same for the same seed. */
export function foldSeed(seed: number, range: NumberRange | undefined): number {
  if (range === undefined || (seed >= range.min && seed <= range.max)) return seed;
  const count = range.max - range.min + 1;
  return range.min + ((((seed - range.min) % count) + count) % count);
}
