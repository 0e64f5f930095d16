import type { Dialect } from "../dialects/dialect.ts";

/** A path that does not exist is answered in the protocol whose paths, or else whose headers, it looks like. */
export function resembledDialect(path: string, headers: Headers, dialects: readonly [Dialect, ...Dialect[]]): Dialect {
  // The paths of later dialects are more specific.
  const byPath = dialects.findLast(({ http }) => http.pathHint?.test(path));
  const byHeader = () => dialects.find(({ http }) => http.headerHints?.some((name) => headers.has(name)));
  return byPath ?? byHeader() ?? dialects[0];
}
