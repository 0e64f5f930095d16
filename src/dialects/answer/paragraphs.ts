const PARAGRAPH = "\n\n";

/**
 * Inserts paragraph breaks between texts of a response, for protocols in which they form one text: after a hosted search, or
 * between two messages, they would run together. Adds nothing if one of them has a line end there.
 */
export class Paragraphs {
  #last = "";
  #apart = false;

  /** The next text does not continue the text so far. */
  break(): void {
    this.#apart = true;
  }

  /** The separator between the text so far and this one. */
  before(text: string): string {
    if (text === "") return "";
    const open = this.#apart && this.#last !== "" && !this.#last.endsWith("\n") && !text.startsWith("\n");
    this.#apart = false;
    this.#last = text;
    return open ? PARAGRAPH : "";
  }
}
