interface Kept {
  readonly names: string[];
  readonly values: string[];
  readonly headers: Headers;
}

/** Kinds of responses: each protocol, with and without limits, streamed and not. */
const MAX_KINDS = 12;

/**
 * Creates the `Headers` of responses. The runtime copies a `Headers` object in a fraction of the time that it needs to create one,
 * and most values repeat those of the previous response. So one object is kept per list of names, and only values that differ are
 * set.
 */
export class KeptHeaders {
  readonly #kinds: Kept[] = [];
  #replaced = 0;

  /** Must be copied at once, as `new Response` does, because the next response changes it. */
  of(record: Readonly<Record<string, string>>): Headers {
    for (const kind of this.#kinds) {
      if (hasNames(kind, record)) return update(kind, record);
    }
    const kind = { names: Object.keys(record), values: Object.values(record), headers: new Headers(record) };
    if (this.#kinds.length < MAX_KINDS) this.#kinds.push(kind);
    else {
      this.#kinds[this.#replaced] = kind;
      this.#replaced = (this.#replaced + 1) % MAX_KINDS;
    }
    return kind.headers;
  }
}

function hasNames({ names }: Kept, record: Readonly<Record<string, string>>): boolean {
  let index = 0;
  for (const name in record) {
    if (names[index] !== name) return false;
    index += 1;
  }
  return index === names.length;
}

function update({ names, values, headers }: Kept, record: Readonly<Record<string, string>>): Headers {
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    const value = record[name] ?? "";
    if (values[index] === value) continue;
    headers.set(name, value);
    values[index] = value;
  }
  return headers;
}
