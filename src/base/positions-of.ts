/** Where each value of a list stands first: for lists that are too long to be searched again and again. */
export function positionsOf<Value>(list: readonly Value[]): ReadonlyMap<Value, number> {
  const positions = new Map<Value, number>();
  for (const [index, value] of list.entries()) if (!positions.has(value)) positions.set(value, index);
  return positions;
}
