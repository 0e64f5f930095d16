/** Less than any turn is away from another, and more than arithmetic is wrong by. */
const ROUNDING = 1e-9;

/**
 * Indexes in the order of their turns, from turn number `turn` on: weighted round robin, with the turns of each spread over
 * time. Turn k of index i among n is due at (k + (i + ½) / n) / weight, and turns are taken by when they are due, the lower index
 * first where two are due together. So equals alternate. No state is kept: a plan can be made again from the number of its turn.
 * Those of weight 0 have no turns, and come last.
 */
export function turnOrder(weights: readonly number[], turn: number): number[] {
  return areEqual(weights) ? rotation(weights.length, turn) : weightedTurns(weights, turn);
}

const areEqual = (weights: readonly number[]): boolean =>
  weights.every((weight) => weight === weights[0] && weight > 0);

/** What the walk below comes to among equals, which nearly all offers are. */
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
  // In a unit of time `total` turns are taken, give or take one of each: the walk to this turn begins just before it.
  const start = Math.max(0, (turn - sharing) / total);
  const taken: number[] = [];
  let over = 0;
  for (const [index, weight] of weights.entries()) {
    const count = weight > 0 ? Math.max(0, Math.ceil(weight * start - phase(index) - ROUNDING)) : 0;
    taken.push(count);
    over += count;
  }
  // Multiplied out, so that what is due together is found to be: whole numbers stay exact.
  const sinceStart = (index: number): number => 2 * weights.length * (taken[index] ?? 0) + 2 * index + 1;
  const compareDue = (one: number, other: number): number =>
    sinceStart(one) * (weights[other] ?? 0) - sinceStart(other) * (weights[one] ?? 0);
  for (; over < turn && sharing > 0; over++) {
    let next = 0;
    for (let index = 1; index < weights.length; index++) if (compareDue(index, next) < 0) next = index;
    taken[next] = (taken[next] ?? 0) + 1;
  }
  // Without a weight nothing is ever due.
  return [...weights.keys()].sort(compareDue);
}
