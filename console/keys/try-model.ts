const USUAL = "sim/standard";

/** A model that a key with these patterns may use, for an example; a pattern stays for the reader to complete. */
export function modelToTry(patterns: readonly string[]): string {
  if (patterns.some((pattern) => pattern === "*" || pattern === USUAL || pattern === "sim/*")) return USUAL;
  return patterns.find((pattern) => !pattern.includes("*") && !pattern.startsWith("!")) ?? patterns[0] ?? USUAL;
}
