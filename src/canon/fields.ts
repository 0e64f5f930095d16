import { isObject, type JsonObject, numberOf } from "../base/json.ts";

/**
 * Reads an object field by field and remembers which were read: what was not asked for is left over, and goes into a part's
 * or a call's extras, so that no field of a request can be lost by being forgotten (H09).
 */
export class Fields {
  readonly #object: JsonObject;
  readonly #read = new Set<string>();

  constructor(value: unknown) {
    this.#object = isObject(value) ? value : {};
  }

  /** A field's value; null reads as absent, as it does in every one of the protocols. */
  take(key: string): unknown {
    this.#read.add(key);
    const value = this.#object[key];
    return value === null ? undefined : value;
  }

  string(key: string): string | undefined {
    return this.#typed(key, (value) => typeof value === "string") as string | undefined;
  }

  number(key: string): number | undefined {
    return numberOf(this.#typed(key, (value) => numberOf(value) !== undefined));
  }

  boolean(key: string): boolean | undefined {
    return this.#typed(key, (value) => typeof value === "boolean") as boolean | undefined;
  }

  object(key: string): JsonObject | undefined {
    return this.#typed(key, isObject) as JsonObject | undefined;
  }

  array(key: string): readonly unknown[] | undefined {
    return this.#typed(key, Array.isArray) as readonly unknown[] | undefined;
  }

  /** Fields that mean nothing to a translation, or that the gateway honours itself. */
  skip(...keys: readonly string[]): void {
    for (const key of keys) this.#read.add(key);
  }

  /** What was not read, in the client's order; undefined where nothing is left. */
  rest(): JsonObject | undefined {
    const left = Object.entries(this.#object).filter(([key, value]) => !this.#read.has(key) && value !== null);
    return left.length === 0 ? undefined : Object.fromEntries(left);
  }

  /** Counts as read only where it has the type: what is of another kind stays among the left-overs. */
  #typed(key: string, fits: (value: unknown) => boolean): unknown {
    const value = this.#object[key];
    if (value === null || fits(value)) this.#read.add(key);
    return value !== null && fits(value) ? value : undefined;
  }
}
