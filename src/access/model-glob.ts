/**
 * Whether a pattern matches a model id; `*` matches any run of characters, including an empty one. Each fixed part is
 * searched once, from left to right, without backtracking.
 */
export function matches(pattern: string, id: string): boolean {
  return matchesParts(pattern.split("*"), id);
}

/** The patterns, compiled once for many checks. */
export function compileGlobs(patterns: readonly string[]): (id: string) => boolean {
  if (patterns.includes("*")) return () => true;
  const compiled = patterns.map((pattern) => pattern.split("*"));
  return (id) => compiled.some((parts) => matchesParts(parts, id));
}

function matchesParts(parts: readonly string[], id: string): boolean {
  const first = parts[0] ?? "";
  if (parts.length === 1) return id === first;
  const last = parts[parts.length - 1] ?? "";
  if (id.length < first.length + last.length || !id.startsWith(first) || !id.endsWith(last)) return false;
  const end = id.length - last.length;
  let from = first.length;
  for (let index = 1; index < parts.length - 1; index += 1) {
    const part = parts[index] ?? "";
    const found = id.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
