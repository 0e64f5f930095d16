import type { Dialect } from "../dialects/dialect.ts";

/** Errors for an unknown path use the protocol whose paths, or else whose headers, it resembles. */
export function resembledDialect(path: string, headers: Headers, dialects: readonly [Dialect, ...Dialect[]]): Dialect {
  // The paths of later dialects are more specific.
  const byPath = dialects.findLast(({ http }) => http.pathHint?.test(path));
  return byPath ?? dialectByHeader(headers, dialects) ?? dialects[0];
}

/** The dialect whose clients send one of these headers. */
export const dialectByHeader = (headers: Headers, dialects: readonly Dialect[]): Dialect | undefined =>
  dialects.find(({ http }) => http.headerHints?.some((name) => headers.has(name)));
