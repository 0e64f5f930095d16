/** No legitimate request comes close; recursive code downstream relies on it. */
export const MAX_NESTING = 200;

/** Whether a JSON value has objects or arrays nested more than `levels` deep. `levels` also limits the recursion. */
export function nestsDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === "object" && item !== null && nestsDeeperThan(item, levels - 1)) return true;
    }
    return false;
  }
  const record = value as Record<string, unknown>;
  for (const key in record) {
    const child = record[key];
    if (typeof child === "object" && child !== null && nestsDeeperThan(child, levels - 1)) return true;
  }
  return false;
}
