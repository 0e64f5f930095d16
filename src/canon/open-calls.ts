/** A call of a tool, and whether a result has come for it. */
export interface OpenCall {
  id: string;
  name: string;
  answered: boolean;
}

/** Calls in their order, without those that have a result: each is passed over once, however many results come. */
export class OpenCalls {
  readonly #calls: OpenCall[] = [];
  #first = 0;

  push(call: OpenCall): void {
    this.#calls.push(call);
  }

  get first(): OpenCall | undefined {
    while (this.#calls[this.#first]?.answered) this.#first++;
    return this.#calls[this.#first];
  }
}

/** The same, found by a word of theirs. */
export class OpenCallsByWord {
  readonly #calls = new Map<string, OpenCalls>();

  push(word: string, call: OpenCall): void {
    const known = this.#calls.get(word) ?? new OpenCalls();
    known.push(call);
    this.#calls.set(word, known);
  }

  first(word: string): OpenCall | undefined {
    return this.#calls.get(word)?.first;
  }
}
