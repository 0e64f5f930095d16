import { isObject, type JsonObject, numberOf } from "../base/json.ts";

/**
 * Reads an object field by field and remembers which were read: what was not asked for is left over, and goes into a part's
 * or a call's extras, so that no field of a request can be lost by being forgotten (H09).
 */
export class Fields {
  readonly #object: JsonObject;
  /** The keys that were read; a list, because they are few, and there are such readers by the hundred in a long request. */
  readonly #read: string[] = [];

  constructor(value: unknown) {
    this.#object = isObject(value) ? value : {};
  }

  /** A field's value; null reads as absent, as it does in every one of the protocols. */
  take(key: string): unknown {
    this.#read.push(key);
    return this.#object[key] ?? undefined;
  }

  /** A field's value, which stays unread: for what is only read where all of it is understood. */
  peek(key: string): unknown {
    return this.#object[key] ?? undefined;
  }

  string(key: string): string | undefined {
    const value = this.#object[key];
    return typeof value === "string" ? this.#took(key, value) : undefined;
  }

  number(key: string): number | undefined {
    const value = numberOf(this.#object[key]);
    return value === undefined ? undefined : this.#took(key, value);
  }

  boolean(key: string): boolean | undefined {
    const value = this.#object[key];
    return typeof value === "boolean" ? this.#took(key, value) : undefined;
  }

  object(key: string): JsonObject | undefined {
    const value = this.#object[key];
    return isObject(value) ? this.#took(key, value) : undefined;
  }

  array(key: string): readonly unknown[] | undefined {
    const value = this.#object[key];
    return Array.isArray(value) ? this.#took(key, value as readonly unknown[]) : undefined;
  }

  /** Fields that mean nothing to a translation, or that the gateway honours itself. */
  skip(...keys: readonly string[]): void {
    for (const key of keys) this.#read.push(key);
  }

  /** What was not read, in the client's order; undefined where nothing is left. */
  rest(): JsonObject | undefined {
    let left: [string, unknown][] | undefined;
    for (const key in this.#object) {
      const value = this.#object[key];
      if (value === null || this.#read.includes(key)) continue;
      left ??= [];
      left.push([key, value]);
    }
    return left === undefined ? undefined : Object.fromEntries(left);
  }

  /** Counts as read only where it has the type: what is of another kind stays among the left-overs. */
  #took<Value>(key: string, value: Value): Value {
    this.#read.push(key);
    return value;
  }
}
