/** The numbers that a host takes, both ends inclusive. */
export interface NumberRange {
  min: number;
  max: number;
}

/** The seed itself where the host takes it; else one that the host takes, always the same for a seed. */
export function foldSeed(seed: number, range: NumberRange | undefined): number {
  if (range === undefined || (seed >= range.min && seed <= range.max)) return seed;
  const count = range.max - range.min + 1;
  return range.min + ((((seed - range.min) % count) + count) % count);
}
