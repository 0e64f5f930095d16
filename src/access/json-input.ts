import { readTimestamp } from "../base/timestamp.ts";
import { GatewayError } from "../canon/error.ts";
import { SHARING, type Sharing } from "../canon/ownership.ts";

/** Reads the fields of an object that a client sent; each error names the field and the expected value. */
export class JsonInput {
  readonly #fields: Readonly<Record<string, unknown>>;

  /** Ignoring a misspelt limit would create a key with more access than intended (H25). */
  constructor(body: unknown, what: string, known: readonly string[]) {
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      throw new GatewayError("invalid_request", `The body must be a JSON object that describes ${what}.`);
    }
    const unknown = Object.keys(body).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      const shown = unknown.slice(0, 100);
      refuse(shown, `is not a field of ${what}; expected one of ${known.join(", ")}`);
    }
    this.#fields = body as Readonly<Record<string, unknown>>;
  }

  text(name: string): string | undefined {
    return this.#read(name, "a text", (value) => (typeof value === "string" ? value : undefined));
  }

  flag(name: string): boolean | undefined {
    return this.#read(name, "true or false", (value) => (typeof value === "boolean" ? value : undefined));
  }

  number(name: string): number | undefined {
    return this.#read(name, "a number", (value) => (typeof value === "number" ? value : undefined));
  }

  texts(name: string): readonly string[] | undefined {
    return this.#read(name, "a list of strings", (value) =>
      Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined,
    );
  }

  list(name: string): readonly unknown[] | undefined {
    return this.#read(name, "a list", (value) => (Array.isArray(value) ? value : undefined));
  }

  /** A date or a timestamp, in milliseconds. */
  time(name: string): number | undefined {
    return this.#read(name, "a date such as 2027-01-31", (value) =>
      typeof value === "string" && value.length <= 40 ? readTimestamp(value) : undefined,
    );
  }

  object(name: string): Readonly<Record<string, unknown>> | undefined {
    return this.#read(name, "an object", (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? (value as Readonly<Record<string, unknown>>)
        : undefined,
    );
  }

  /** Limits; `null` removes one. */
  numbers(name: string): Readonly<Record<string, number | null>> | undefined {
    const numbers = this.object(name);
    for (const [member, value] of Object.entries(numbers ?? {})) {
      if (typeof value !== "number" && value !== null) refuse(`${name}.${member.slice(0, 100)}`, "must be a number");
    }
    return numbers as Readonly<Record<string, number | null>> | undefined;
  }

  sharing(name: string): Sharing | undefined {
    return this.#read(name, SHARING.join(" or "), (value) => SHARING.find((known) => known === value));
  }

  /** Whether the field is `null`, to remove a limit. */
  isNull(name: string): boolean {
    return this.#fields[name] === null;
  }

  #read<Value>(name: string, right: string, read: (value: unknown) => Value | undefined): Value | undefined {
    const value = this.#fields[name];
    if (value === undefined || value === null) return undefined;
    const found = read(value);
    if (found === undefined) refuse(name, `must be ${right}`);
    return found;
  }
}

function refuse(path: string, why: string): never {
  throw new GatewayError("invalid_request", `\`${path}\` ${why}.`, { path });
}
