/** What guards have seen of one call, and of the calls that the gateway made for it. Each sees every text once. */
export class SeenTexts {
  /** By guard: what became of each text. */
  readonly #by = new Map<string, Map<string, string>>();
  /** A guard has blocked something: nothing else is tried. */
  hasBlocked = false;

  /** What a guard has left of a text; undefined if it has not seen it. */
  find(guard: string, text: string): string | undefined {
    return this.#by.get(guard)?.get(text);
  }

  add(guard: string, text: string, left: string): void {
    const known = this.#by.get(guard) ?? new Map<string, string>();
    this.#by.set(guard, known.set(text, left).set(left, left));
  }
}
