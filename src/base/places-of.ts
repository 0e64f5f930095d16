/** Where each value of a list stands first: for lists that are too long to be searched again and again. */
export function placesOf<Value>(list: readonly Value[]): ReadonlyMap<Value, number> {
  const places = new Map<Value, number>();
  for (const [index, value] of list.entries()) if (!places.has(value)) places.set(value, index);
  return places;
}
