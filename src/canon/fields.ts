import { isObject, type JsonObject, numberOf } from "../base/json.ts";

/**
 * Reads an object field by field and records which fields were read. The rest goes into the extras of a part or call, so that no field of a
 * request is lost by accident (H09).
 */
export class Fields {
  readonly #object: JsonObject;
  /** The keys read so far. A list, because there are few keys per object and hundreds of these readers in a long request. */
  readonly #read: string[] = [];

  constructor(value: unknown) {
    this.#object = isObject(value) ? value : {};
  }

  /** A field's value. null means absent, as in all protocols. */
  take(key: string): unknown {
    this.#read.push(key);
    return this.#object[key] ?? undefined;
  }

  /** A field's value, without marking it as read. */
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

  /** Marks fields as read that a translation does not need or that the gateway handles itself. */
  skip(...keys: readonly string[]): void {
    for (const key of keys) this.#read.push(key);
  }

  /** The unread fields in the client's order, or undefined if there are none. */
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

  /** Marks a field as read only if it has the expected type. Other values stay in the rest. */
  #took<Value>(key: string, value: Value): Value {
    this.#read.push(key);
    return value;
  }
}
