/** A word in code, in a test's name or in a document that points at a page of this repository. */
export interface Citation {
  line: number;
  /** In its full form: `contract 2.12`, `H16`, `decision 0017`. */
  text: string;
  /** The folder or file that must have the heading. */
  page: string;
  /** The beginning of the heading: `2.12`, `H16`, `0017`. */
  heading: string;
}

/** The word before a number names the page. */
const PAGES: Readonly<Record<string, string>> = {
  contract: "docs/reference/api.md",
  choices: "docs/reference/choices.md",
  mapping: "docs/reference/mapping-choices.md",
  providers: "docs/reference/providers.md",
  runtime: "docs/reference/runtime.md",
  sdks: "docs/reference/sdks.md",
};
export const HAZARDS = "docs/reference/hazards.md";
const RESPONSES = "docs/reference/responses.md";
export const DECISIONS = "docs/decisions";

const NUMBER = String.raw`\d+(?:\.\d+)*(?![\w-]|\.\d)`;
/** `contract 2.12`, and lists and ranges: `contract 2.1, 2.4, 8`, `contract 2.6 to 2.8`. */
const SECTIONS = new RegExp(
  String.raw`\b(${Object.keys(PAGES).join("|")}) (${NUMBER}(?:(?:, | and | or | to |–)${NUMBER})*)`,
  "gi",
);
const HAZARD = /\b[HS]\d{2}\b/g;
/** A requirement of the responses protocol, at the beginning of a test's name or in brackets. */
const REQUIREMENT = /(?<=["'`(]|, )R\d{1,2}(?=[:,)])/g;
const DECISION = /\bdecision (\d{4})\b/gi;

/** Former or likely misspellings, which lead nowhere. */
const STRAYS = [
  /§ ?\d[\d.]*/g,
  /\b(?:sdk-wire|bun-notes|mapping[- ]notes)\b/gi,
  /\b(?:decisions|design) \d{1,2}\b/gi,
  /(?<=\w )\(0\d{3}\)/g,
  /(?<=(?:\b(?:test|describe)[\w.]*\(|\bid: )["'`])[A-GI-QT-Z]\d{1,2}\b/g,
];

/** Every citation of a page in the text, with its line. */
export function citationsIn(text: string): Citation[] {
  return linesOf(text).flatMap(([line, words]) => [
    ...[...words.matchAll(SECTIONS)].flatMap(([, source = "", numbers = ""]) => {
      const name = source.toLowerCase();
      return [...numbers.matchAll(/\d+(?:\.\d+)*/g)].map(([heading]) => {
        return { line, text: `${name} ${heading}`, page: PAGES[name] ?? "", heading };
      });
    }),
    ...[...words.matchAll(HAZARD)].map(([heading]) => ({ line, text: heading, page: HAZARDS, heading })),
    ...[...words.matchAll(REQUIREMENT)].map(([heading]) => ({ line, text: heading, page: RESPONSES, heading })),
    ...[...words.matchAll(DECISION)].map(([, heading = ""]) => {
      return { line, text: `decision ${heading}`, page: DECISIONS, heading };
    }),
  ]);
}

/** Looks like a citation, but has an unknown spelling. */
export function straysIn(text: string): Pick<Citation, "line" | "text">[] {
  return linesOf(text).flatMap(([line, words]) =>
    STRAYS.flatMap((stray) => [...words.matchAll(stray)].map(([found]) => ({ line, text: found }))),
  );
}

/** The numbers or ids with which the headings of a page begin. */
export function headingsOf(markdown: string): Set<string> {
  return new Set(
    [...markdown.matchAll(/^#{1,4} (\d+(?:\.\d+)*|[HS]\d{2}|R\d{1,2})\.?(?= |$)/gm)].map(([, heading = ""]) => heading),
  );
}

const linesOf = (text: string): [line: number, words: string][] =>
  text.split("\n").map((words, index) => [index + 1, words]);
