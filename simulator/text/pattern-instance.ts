import type { Seed } from "../seed.ts";

const LETTERS = "abcdefghjkmnpqrstuvwxyz";
const DIGITS = "0123456789";
/** Tried in turn for a negated class. */
const ORDINARY = [...LETTERS, ...DIGITS, ..."_-ABC "];
const MAX_REPEATS = 64;

/** Thrown inside this file for a construct that is beyond it. */
class TooClever extends Error {}

/** Reads a regular expression from left to right and writes one string that it matches. */
class PatternWriter {
  readonly #pattern: string;
  readonly #seed: Seed;
  #at = 0;
  #draws = 0;

  constructor(pattern: string, seed: Seed) {
    this.#pattern = pattern;
    this.#seed = seed;
  }

  write(): string {
    const text = this.#alternatives();
    if (this.#at < this.#pattern.length) throw new TooClever();
    return text;
  }

  #draw(below: number): number {
    this.#draws += 1;
    return this.#seed.number(`draw ${this.#draws}`, below);
  }

  #alternatives(): string {
    const options = [this.#sequence()];
    while (this.#pattern[this.#at] === "|") {
      this.#at += 1;
      options.push(this.#sequence());
    }
    return options[this.#draw(options.length)] ?? "";
  }

  #sequence(): string {
    let text = "";
    while (this.#at < this.#pattern.length && !"|)".includes(this.#pattern[this.#at] ?? "")) {
      const from = this.#at;
      const first = this.#atom();
      const after = this.#at;
      const repeats = this.#quantifier();
      if (repeats === 0) continue;
      text += first;
      const end = this.#at;
      for (let count = 1; count < repeats; count += 1) {
        this.#at = from;
        text += this.#atom();
        if (this.#at !== after) throw new TooClever();
      }
      this.#at = end;
    }
    return text;
  }

  #quantifier(): number {
    const match = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(this.#pattern.slice(this.#at));
    if (match === null) return 1;
    this.#at += match[0].length;
    return Math.min(MAX_REPEATS, match[1] === undefined ? 1 : Number(match[1]));
  }

  #atom(): string {
    const character = this.#pattern[this.#at] ?? "";
    this.#at += 1;
    if (character === "^" || character === "$") return "";
    if (character === ".") return this.#one([...LETTERS]);
    if (character === "\\") return this.#escape();
    if (character === "[") return this.#characterClass();
    if (character === "(") return this.#group();
    if ("*+?{".includes(character)) throw new TooClever();
    return character;
  }

  #group(): string {
    if (this.#pattern[this.#at] === "?") {
      if (this.#pattern[this.#at + 1] !== ":") throw new TooClever();
      this.#at += 2;
    }
    const text = this.#alternatives();
    if (this.#pattern[this.#at] !== ")") throw new TooClever();
    this.#at += 1;
    return text;
  }

  #escape(): string {
    const character = this.#pattern[this.#at] ?? "";
    this.#at += 1;
    if (character === "d") return this.#one([...DIGITS]);
    if (character === "w") return this.#one([...LETTERS]);
    if (character === "s") return " ";
    if (/[a-zA-Z0-9]/.test(character)) throw new TooClever();
    return character;
  }

  #characterClass(): string {
    const rest = this.#pattern.slice(this.#at);
    const match = /^\^?(?:\\.|[^\]\\])+\]/.exec(rest);
    if (match === null) throw new TooClever();
    this.#at += match[0].length;
    const allowed = new RegExp(`^[${match[0]}$`, "u");
    const range = [...ORDINARY, ..."DEFGHIJKLMNOPQRSTUVWXYZ", ...".,:;/@#%&+=!?()[]{}<>|~^*'\"`$\\"];
    return this.#one(range.filter((candidate) => allowed.test(candidate)));
  }

  #one(candidates: string[]): string {
    const chosen = candidates[this.#draw(Math.max(1, candidates.length))];
    if (chosen === undefined) throw new TooClever();
    return chosen;
  }
}

/** A string that matches, for the plain patterns that schemas use; `undefined` for the others. */
export function patternInstance(pattern: string, seed: Seed): string | undefined {
  try {
    const text = new PatternWriter(pattern, seed).write();
    return new RegExp(pattern, "u").test(text) ? text : undefined;
  } catch {
    // Either the pattern is no regular expression, or it is too clever for this writer: there is no instance of ours.
    return undefined;
  }
}
