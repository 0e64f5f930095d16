/** The path of `sqlite:<path>`; undefined for another storage. */
export function sqlitePath(url: string): string | undefined {
  return url.startsWith("sqlite:") ? url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "") : undefined;
}

/** The storage URL for messages: without user and password, which must not reach a log (S10). */
export function redactStorageUrl(url: string): string {
  const path = sqlitePath(url);
  if (path !== undefined) return `the SQLite file ${path}`;
  const { host, pathname } = new URL(url);
  return `PostgreSQL at ${host}${pathname}`;
}
