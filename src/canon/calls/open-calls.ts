/** A tool call, and whether it has a result. */
export interface OpenCall {
  id: string;
  name: string;
  answered: boolean;
}

/** Calls in order, without those that have a result. Each call is skipped only once, however many results there are. */
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

/** The same, indexed by a string such as the name. */
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
