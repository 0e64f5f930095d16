/**
 * Indexes in random order, each first as often as its weight says. One number in [0, 1) decides all places: what remains of it
 * after a choice is again evenly distributed. Indexes of weight 0 come last, in their order.
 */
export function weightedOrder(weights: readonly number[], draw: number): number[] {
  const left = [...weights.keys()];
  const order: number[] = [];
  let rest = draw;
  while (left.length > 0) {
    let total = 0;
    for (const index of left) total += weights[index] ?? 0;
    let at = 0;
    if (total > 0) {
      let point = rest * total;
      // Rounding may place a point after the last share: the last index with a weight gets it.
      for (const [place, index] of left.entries()) {
        const weight = weights[index] ?? 0;
        if (weight === 0) continue;
        at = place;
        if (point < weight) {
          rest = point / weight;
          break;
        }
        point -= weight;
      }
    }
    order.push(...left.splice(at, 1));
  }
  return order;
}
