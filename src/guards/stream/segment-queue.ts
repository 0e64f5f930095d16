import { type Segment, splitSegment } from "./segment.ts";

/** Segments in order. */
export class SegmentQueue {
  #segments: Segment[] = [];
  /** The characters of their texts. */
  length = 0;

  push(segment: Segment): void {
    if (segment.text === "" && segment.source === 0) return;
    this.#segments.push(segment);
    this.length += segment.text.length;
  }

  /** Takes this many characters of text from the front, and what follows them without text of its own. */
  take(characters: number): Segment[] {
    const taken: Segment[] = [];
    let left = characters;
    let used = 0;
    for (const segment of this.#segments) {
      if (left === 0 && segment.text !== "") break;
      used++;
      if (segment.text.length <= left) {
        taken.push(segment);
        left -= segment.text.length;
        continue;
      }
      const [first, rest] = splitSegment(segment, left);
      taken.push(first);
      this.#segments[--used] = rest;
      left = 0;
      break;
    }
    this.#segments.splice(0, used);
    this.length -= characters;
    return taken;
  }

  /**
   * Takes the text that replaces this many characters of the original. What replaces more than that is taken whole, and stands for the
   * rest without a text.
   */
  takeSource(characters: number): { text: string; isChanged: boolean } {
    let left = characters;
    let text = "";
    let isChanged = false;
    while (left > 0) {
      const segment = this.#segments.shift();
      if (segment === undefined) break;
      this.length -= segment.text.length;
      isChanged ||= segment.isChanged;
      if (segment.source <= left) {
        text += segment.text;
        left -= segment.source;
        continue;
      }
      const at = segment.isChanged ? segment.text.length : left;
      text += segment.text.slice(0, at);
      this.#segments.unshift({
        text: segment.text.slice(at),
        source: segment.source - left,
        isChanged: segment.isChanged,
      });
      this.length += segment.text.length - at;
      left = 0;
    }
    return { text, isChanged };
  }

  /** How many characters of the original its segments stand for. */
  get source(): number {
    return this.#segments.reduce((sum, { source }) => sum + source, 0);
  }
}
