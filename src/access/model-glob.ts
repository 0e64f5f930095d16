/**
 * Whether a pattern covers a model id; `*` stands for any run of characters, an empty one included. Each fixed piece is
 * looked for once, from left to right, and the search never goes back.
 */
export function matches(pattern: string, id: string): boolean {
  return matchesPieces(pattern.split("*"), id);
}

/** The patterns, taken apart once for many questions. */
export function compileGlobs(patterns: readonly string[]): (id: string) => boolean {
  if (patterns.includes("*")) return () => true;
  const compiled = patterns.map((pattern) => pattern.split("*"));
  return (id) => compiled.some((pieces) => matchesPieces(pieces, id));
}

function matchesPieces(pieces: readonly string[], id: string): boolean {
  const first = pieces[0] ?? "";
  if (pieces.length === 1) return id === first;
  const last = pieces[pieces.length - 1] ?? "";
  if (id.length < first.length + last.length || !id.startsWith(first) || !id.endsWith(last)) return false;
  const end = id.length - last.length;
  let from = first.length;
  for (let index = 1; index < pieces.length - 1; index += 1) {
    const piece = pieces[index] ?? "";
    const found = id.indexOf(piece, from);
    if (found < 0 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
