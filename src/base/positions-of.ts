/** The first position of each value of a list, for lists that are too long to search repeatedly. */
export function positionsOf<Value>(list: readonly Value[]): ReadonlyMap<Value, number> {
  const positions = new Map<Value, number>();
  for (const [index, value] of list.entries()) if (!positions.has(value)) positions.set(value, index);
  return positions;
}
