/** A client may name a field `__proto__`; assigning it would change the object's prototype instead. */
export function putField(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
