interface TaggedText {
  reasoning: boolean;
  text: string;
}

/**
 * Extracts reasoning from a text that begins with it between two tags. Later tags are part of the model's text. A possible start of a tag
 * is held back until it is decided.
 */
export class ReasoningTags {
  readonly #open: string;
  readonly #close: string;
  #state: "before" | "inside" | "behind" | "after" = "before";
  #held = "";
  /** Leading whitespace, which belongs to the text if no tag follows. */
  #blanks = "";

  constructor(tags: { open: string; close: string }) {
    this.#open = tags.open;
    this.#close = tags.close;
  }

  push(text: string): TaggedText[] {
    if (this.#state === "after") return [{ reasoning: false, text }];
    this.#held += text;
    return [...this.#read()].filter((chunk) => chunk.text !== "");
  }

  /** The text has ended, so what was held back is plain text. */
  end(): TaggedText[] {
    const text = this.#blanks + this.#held;
    this.#held = "";
    this.#blanks = "";
    return text === "" ? [] : [{ reasoning: this.#state === "inside", text }];
  }

  *#read(): Generator<TaggedText> {
    if (this.#state === "before") {
      const start = this.#held.trimStart();
      this.#blanks += this.#held.slice(0, this.#held.length - start.length);
      this.#held = start;
      if (start.length < this.#open.length && this.#open.startsWith(start)) return;
      const opens = start.startsWith(this.#open);
      this.#state = opens ? "inside" : "after";
      this.#held = opens ? start.slice(this.#open.length) : this.#blanks + start;
      this.#blanks = "";
    }
    if (this.#state === "inside") {
      const close = this.#held.indexOf(this.#close);
      if (close < 0) {
        const kept = endThatBegins(this.#held, this.#close);
        yield { reasoning: true, text: this.#held.slice(0, this.#held.length - kept) };
        this.#held = this.#held.slice(this.#held.length - kept);
        return;
      }
      yield { reasoning: true, text: this.#held.slice(0, close) };
      this.#held = this.#held.slice(close + this.#close.length);
      this.#state = "behind";
    }
    if (this.#state === "behind") {
      // The blank lines between the closing tag and the answer belong to neither.
      this.#held = this.#held.trimStart();
      if (this.#held === "") return;
      this.#state = "after";
    }
    yield { reasoning: false, text: this.#held };
    this.#held = "";
  }
}

/** How many characters at the end of the text are the start of the tag. */
function endThatBegins(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (mark.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
