/** A value as OTLP writes it in JSON: integers are strings. */
export type AnyValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: AnyValue[] } };

export interface Attribute {
  key: string;
  value: AnyValue;
}

/** Adds an attribute; one without a value is left out. */
export class Attributes {
  readonly list: Attribute[] = [];

  text(key: string, value: string | undefined): this {
    if (value) this.list.push({ key, value: { stringValue: value } });
    return this;
  }

  flag(key: string, value: boolean): this {
    this.list.push({ key, value: { boolValue: value } });
    return this;
  }

  whole(key: string, value: number | undefined): this {
    if (value !== undefined) this.list.push({ key, value: { intValue: String(Math.round(value)) } });
    return this;
  }

  number(key: string, value: number | undefined): this {
    if (value !== undefined) this.list.push({ key, value: { doubleValue: value } });
    return this;
  }

  texts(key: string, values: readonly string[]): this {
    if (values.length > 0) {
      this.list.push({ key, value: { arrayValue: { values: values.map((stringValue) => ({ stringValue })) } } });
    }
    return this;
  }
}

/** Nanoseconds since 1970, which no double holds. */
export const nanoseconds = (ms: number): string => `${Math.floor(ms)}${fraction(ms)}`;

const fraction = (ms: number): string => String(Math.floor((ms - Math.floor(ms)) * 1e6)).padStart(6, "0");
