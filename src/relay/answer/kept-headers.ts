interface Kept {
  readonly names: string[];
  readonly values: string[];
  readonly headers: Headers;
}

/** Kinds of answers that follow each other: of each protocol, with and without limits, in one piece and streamed. */
const MAX_KINDS = 12;

/**
 * Makes the `Headers` of answers. The runtime copies such an object in a fraction of the time in which it makes one from names and
 * values, and most values are those of the answer before: one object is kept for each list of names, and what differs is set.
 */
export class KeptHeaders {
  readonly #kinds: Kept[] = [];
  #replaced = 0;

  /** To be copied at once, as `new Response` does: the next answer changes it. */
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
