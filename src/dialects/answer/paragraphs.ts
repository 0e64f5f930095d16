const PARAGRAPH = "\n\n";

/**
 * Where texts of an answer need a paragraph between them, for protocols in which all of them are one text: after a search of the provider's,
 * or between two messages, they would run together. Nothing where one of them brings a line's end of its own.
 */
export class Paragraphs {
  #last = "";
  #apart = false;

  /** What comes next does not continue the text so far. */
  break(): void {
    this.#apart = true;
  }

  /** What stands between the text so far and this one, which comes next. */
  before(text: string): string {
    if (text === "") return "";
    const open = this.#apart && this.#last !== "" && !this.#last.endsWith("\n") && !text.startsWith("\n");
    this.#apart = false;
    this.#last = text;
    return open ? PARAGRAPH : "";
  }
}
