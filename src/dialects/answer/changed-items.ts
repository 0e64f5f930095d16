/** Applies a change to each item. Returns the same list if no item changes, so that an ordinary request keeps its bytes. */
export function changedItems(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const changed = change(item);
    if (copy === undefined && changed !== item) copy = items.slice(0, index);
    copy?.push(changed);
  }
  return copy ?? items;
}
