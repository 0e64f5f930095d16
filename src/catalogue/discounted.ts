/** Of the whole price, in hundredths of a percent. */
const WHOLE = 10_000;

/**
 * A cost less a discount in basis points. Rounded up to the nano-dollar, so that a discount never gives more than it says; and a
 * higher cost never becomes the lower one, so that what is reserved at the dearest price covers what is billed. Integers only: no
 * product here is above the cost times 1.
 */
export function discounted(costNanoUsd: number, basisPoints: number): number {
  if (basisPoints === 0) return costNanoUsd;
  const paid = WHOLE - basisPoints;
  const rest = costNanoUsd % WHOLE;
  return ((costNanoUsd - rest) / WHOLE) * paid + Math.ceil((rest * paid) / WHOLE);
}

/** What rules say of it. */
export const discountWords = (basisPoints: number): string => `${basisPoints / 100}% discount`;
