/** Of the whole price, in hundredths of a percent. */
const WHOLE = 10_000;

/**
 * A cost less a discount in basis points, rounded up to the nano-dollar. The order of costs is preserved, so that a
 * reservation at the highest price covers the bill. Integers only: no product here is above the cost times 1.
 */
export function discounted(costNanoUsd: number, basisPoints: number): number {
  if (basisPoints === 0) return costNanoUsd;
  const paid = WHOLE - basisPoints;
  const rest = costNanoUsd % WHOLE;
  return ((costNanoUsd - rest) / WHOLE) * paid + Math.ceil((rest * paid) / WHOLE);
}

/** A price less a discount in basis points, without the digits that binary fractions add. */
export const discountedPrice = (usd: number, basisPoints: number): number =>
  Number(((usd * (WHOLE - basisPoints)) / WHOLE).toPrecision(12));

/** How price rules describe it. */
export const discountWords = (basisPoints: number): string => `${basisPoints / 100}% discount`;
