import type { StatedKey } from "./key-filter.ts";

const isGrave = ({ states }: StatedKey): boolean => states.some(({ kind }) => kind === "bad" || kind === "warn");

/** Those that need attention first, then those that have spent most this month; otherwise as they came. */
export const inOrder = (keys: readonly StatedKey[]): StatedKey[] =>
  keys.toSorted(
    (one, other) =>
      Number(isGrave(other)) - Number(isGrave(one)) ||
      (other.key.spent_nano_usd?.month ?? 0) - (one.key.spent_nano_usd?.month ?? 0),
  );
