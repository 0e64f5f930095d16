/** A piece of a text on its way through the guards. */
export interface Segment {
  readonly text: string;
  /** How many characters of the original it stands for. */
  readonly source: number;
  readonly isChanged: boolean;
}

/** The first part has this many characters. A changed segment stands for its original once all of it is taken. */
export function splitSegment({ text, source, isChanged }: Segment, at: number): [Segment, Segment] {
  const first = isChanged ? 0 : at;
  return [
    { text: text.slice(0, at), source: first, isChanged },
    { text: text.slice(at), source: source - first, isChanged },
  ];
}
