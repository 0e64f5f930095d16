/** A part of a text that a guard looks for. Offsets are in UTF-16 units. */
export interface TextMatch {
  readonly start: number;
  readonly end: number;
  /** What it is, for the replacement: `email`, `aws_key`. */
  readonly label: string;
}

/** Finds what a built-in guard looks for, in time linear in the text (S18). `searchText` shows it a text as it is read (S28). */
export interface TextFinder {
  /** It is shown texts without case. */
  readonly ignoresCase?: boolean;
  /** In any order; matches may overlap. */
  find(text: string): TextMatch[];
  /** Whether the end of the text may be the beginning of a match of any length, and where that begins. Absent: never. */
  openAt?(text: string): number | undefined;
}
