interface TaggedText {
  reasoning: boolean;
  text: string;
}

/**
 * Takes reasoning out of a text that begins with it between two marks. Marks further on are the model's own words, and what
 * may still become a mark is kept back until it is one or is not.
 */
export class ReasoningTags {
  readonly #open: string;
  readonly #close: string;
  #state: "before" | "inside" | "behind" | "after" = "before";
  #held = "";
  /** White space before anything else, which belongs to the text where that begins with no mark. */
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

  /** The text has ended: what was kept back is what it looks like. */
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
      // The blank lines between the mark and the answer belong to neither.
      this.#held = this.#held.trimStart();
      if (this.#held === "") return;
      this.#state = "after";
    }
    yield { reasoning: false, text: this.#held };
    this.#held = "";
  }
}

/** How many characters at the end of the text are a beginning of the mark. */
function endThatBegins(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (mark.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
