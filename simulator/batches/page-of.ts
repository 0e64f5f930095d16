/** The part of a list that follows the item with this id, and whether more follow. Undefined if no item has it. */
export function pageOf<Item extends { id: string }>(
  all: readonly Item[],
  after: string | null,
  limit: string | null,
  usual = 20,
): { items: Item[]; hasMore: boolean } | undefined {
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) return undefined;
  const size = Math.min(100, Math.max(1, Number(limit) || usual));
  return { items: all.slice(from, from + size), hasMore: from + size < all.length };
}
