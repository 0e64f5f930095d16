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

  /** As JSON, separated by commas. */
  toString(): string {
    return JSON.stringify(this.list).slice(1, -1);
  }
}

/** One attribute as JSON to append to others; empty without a value. Keys are ours and need no escaping. */
export const textText = (key: string, value: string | undefined): string =>
  value ? `,{"key":"${key}","value":{"stringValue":${JSON.stringify(value)}}}` : "";

export const wholeText = (key: string, value: number | undefined): string =>
  value === undefined ? "" : `,{"key":"${key}","value":{"intValue":"${Math.round(value)}"}}`;

export const doubleText = (key: string, value: number | undefined): string =>
  value === undefined || !Number.isFinite(value) ? "" : `,{"key":"${key}","value":{"doubleValue":${value}}}`;
