import { type RangeName, rangeQuery, readRange } from "../state/range.ts";
import { place } from "../state/router.ts";
import { CopyButton } from "./basics.tsx";

/** The address of this view with its range fixed, so that whoever opens it later sees the same calls. */
export function lastingAddress(
  origin: string,
  path: string,
  query: URLSearchParams,
  nowMs: number,
  usual?: RangeName,
): string {
  const fixed = new URLSearchParams(query);
  const range = readRange(query, nowMs, usual);
  const { from, to } = rangeQuery({ ...range, toMs: range.toMs ?? nowMs });
  for (const name of ["range", "live", "after"]) fixed.delete(name);
  fixed.set("from", from);
  if (to !== undefined) fixed.set("to", to);
  return `${origin}${path}?${fixed}`;
}

/** `usual`: the range of a page whose address has none. */
export const CopyLink = ({ usual }: { usual?: RangeName }) => (
  <CopyButton
    text={() => lastingAddress(location.origin, place.value.path, place.value.query, Date.now(), usual)}
    label="Copy link"
    icon="link"
  />
);
