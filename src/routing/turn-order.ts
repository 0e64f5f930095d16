/** Smaller than the distance between turns, larger than rounding errors. */
const ROUNDING = 1e-9;

/**
 * Weighted round robin: indexes in the order of their turns, starting at turn number `turn`, with the turns of each spread evenly.
 * Turn k of index i among n is due at (k + (i + ½) / n) / weight. Turns are taken in the order they are due, the lower index first
 * in a tie, so equals alternate. There is no state: a plan can be reproduced from its turn number. Indexes of weight 0 have no
 * turns and come last.
 */
export function turnOrder(weights: readonly number[], turn: number): number[] {
  return areEqual(weights) ? rotation(weights.length, turn) : weightedTurns(weights, turn);
}

const areEqual = (weights: readonly number[]): boolean =>
  weights.every((weight) => weight === weights[0] && weight > 0);

/** A shortcut for equal weights, which nearly all offers have. */
const rotation = (length: number, turn: number): number[] =>
  Array.from({ length }, (_, place) => (turn + place) % length);

function weightedTurns(weights: readonly number[], turn: number): number[] {
  const phase = (index: number): number => (index + 0.5) / weights.length;
  let total = 0;
  let sharing = 0;
  for (const weight of weights) {
    total += weight;
    if (weight > 0) sharing++;
  }
  // `total` turns are taken per unit of time, give or take one each, so the walk starts just before this turn.
  const start = Math.max(0, (turn - sharing) / total);
  const taken: number[] = [];
  let over = 0;
  for (const [index, weight] of weights.entries()) {
    const count = weight > 0 ? Math.max(0, Math.ceil(weight * start - phase(index) - ROUNDING)) : 0;
    taken.push(count);
    over += count;
  }
  // Multiplied out, because whole numbers make ties exact.
  const sinceStart = (index: number): number => 2 * weights.length * (taken[index] ?? 0) + 2 * index + 1;
  const compareDue = (one: number, other: number): number =>
    sinceStart(one) * (weights[other] ?? 0) - sinceStart(other) * (weights[one] ?? 0);
  for (; over < turn && sharing > 0; over++) {
    let next = 0;
    for (let index = 1; index < weights.length; index++) if (compareDue(index, next) < 0) next = index;
    taken[next] = (taken[next] ?? 0) + 1;
  }
  // An index without weight is never due.
  return [...weights.keys()].sort(compareDue);
}
