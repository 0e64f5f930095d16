import type { HostError } from "../host-error.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";

/** How one host words its refusals. */
export interface Refusals {
  /** A field that this host does not have. */
  unknown(name: string, path: string): HostError;
  missing(path: string): HostError;
  /** A value that is not `expected`, such as `a whole number from 1 to 4`. */
  invalid(path: string, expected: string, value: Json): HostError;
}

/** One object of a request, read field by field. Null is the same as nothing. */
export class Fields {
  readonly #values: JsonObject;
  readonly #path: string;
  readonly #refusals: Refusals;

  /** Rejects values that are not objects, and unknown names. */
  constructor(value: Json | undefined, path: string, known: ReadonlySet<string>, refusals: Refusals) {
    if (value === undefined || value === null) throw refusals.missing(path);
    if (!isObject(value)) throw refusals.invalid(path, "an object", value);
    for (const name of Object.keys(value)) if (!known.has(name)) throw refusals.unknown(name, path);
    this.#values = value;
    this.#path = path;
    this.#refusals = refusals;
  }

  pathOf(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  value(name: string): Json | undefined {
    return this.#values[name] ?? undefined;
  }

  refuse(name: string, expected: string): HostError {
    return this.#refusals.invalid(this.pathOf(name), expected, this.value(name) ?? null);
  }

  text(name: string, maxCharacters = Number.MAX_SAFE_INTEGER): string | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw this.refuse(name, "a string");
    if (value.length > maxCharacters) throw this.refuse(name, `a string of at most ${maxCharacters} characters`);
    return value;
  }

  /** Neither missing nor blank. */
  requiredText(name: string, maxCharacters?: number): string {
    const value = this.text(name, maxCharacters);
    if (value === undefined || value.trim() === "") throw this.#refusals.missing(this.pathOf(name));
    return value;
  }

  number(name: string, min: number, max: number): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value === "number" && value >= min && value <= max) return value;
    throw this.refuse(name, `a number from ${min} to ${max}`);
  }

  whole(name: string, min: number, max: number): number | undefined {
    const value = this.number(name, min, max);
    if (value === undefined || Number.isInteger(value)) return value;
    throw this.refuse(name, `a whole number from ${min} to ${max}`);
  }

  flag(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.refuse(name, "a boolean");
  }

  choice<Choice extends string | number>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) throw this.refuse(name, `one of ${choices.join(", ")}`);
    return chosen;
  }

  list(name: string, max = Number.MAX_SAFE_INTEGER): Json[] {
    const value = this.value(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.refuse(name, "a list");
    if (value.length > max) throw this.#refusals.invalid(this.pathOf(name), `a list of at most ${max}`, value.length);
    return value;
  }

  /** The object in a field, where there is one. */
  object(name: string, known: ReadonlySet<string>): Fields | undefined {
    if (!this.has(name)) return undefined;
    return new Fields(this.value(name), this.pathOf(name), known, this.#refusals);
  }
}
