import { nextTurn } from "../base/next-turn.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import {
  badBoundary,
  boundaryOf,
  cutOff,
  delimiterOf,
  fieldTooLarge,
  lineAfter,
  MAX_FALSE_BOUNDARIES,
  type MultipartLimits,
  type NextPart,
  notAForm,
  readHead,
  textOfField,
} from "./multipart-grammar.ts";
import type { PartHead } from "./multipart-head.ts";

/** One part of a form from a client. */
export type FormEntry =
  | { name: string; value: string }
  | { name: string; fileName?: string; mimeType: string; bytes: Uint8Array };

export type Form = readonly FormEntry[];

/** How much is searched at once. Other requests run in between. */
const SEARCH_BYTES = 4 * 1024 * 1024;

/** Reads a form from a complete body, in one pass. Files are views of the body, not copies. */
export async function readMultipart(body: Uint8Array, contentType: string, limits: MultipartLimits): Promise<Form> {
  const boundaries = new BoundarySearch(body, boundaryOf(contentType));
  const { bytes } = boundaries;
  const entries: FormEntry[] = [];
  let { next } = await boundaries.first();
  if (next === "cut") throw notAForm();
  while (next !== "end") {
    const head = readHead(bytes, next, entries.length, limits);
    const boundary = await boundaries.after(head.bodyAt, head.name);
    const content = bytes.subarray(head.bodyAt, boundary.at);
    if (!head.file && content.length > limits.maxFieldBytes) throw fieldTooLarge(head, limits);
    next = boundary.next;
    if (next === "cut") throw cutOff(head.name);
    entries.push(entryOf(head, content));
  }
  return entries;
}

interface Boundary {
  /** Where the boundary begins and the content before it ends. */
  at: number;
  next: NextPart;
}

class BoundarySearch {
  readonly bytes: Buffer;
  readonly #delimiter: Buffer;
  #falseBoundaries = 0;
  /** Since other requests last had their turn. */
  #searchedBytes = 0;

  constructor({ buffer, byteOffset, length }: Uint8Array, boundary: string) {
    this.bytes = Buffer.from(buffer, byteOffset, length);
    this.#delimiter = delimiterOf(boundary);
  }

  /** If the preamble is empty, no line end precedes the first boundary. */
  async first(): Promise<Boundary> {
    const boundary = this.#delimiter.subarray(2);
    const begins = this.bytes.subarray(0, boundary.length).equals(boundary);
    const next = begins ? lineAfter(this.bytes, boundary.length) : undefined;
    return next === undefined ? this.after(0) : { at: 0, next };
  }

  /** The next boundary at or after an offset, in the content of `field`. */
  async after(from: number, field?: string): Promise<Boundary> {
    const { bytes } = this;
    const { length } = this.#delimiter;
    for (let at = from; ; ) {
      const to = Math.min(bytes.length, at + SEARCH_BYTES + length);
      const found = bytes.subarray(at, to).indexOf(this.#delimiter);
      await this.#searched(found < 0 ? to - at : found);
      if (found < 0) {
        if (to === bytes.length) return { at: to, next: "cut" };
        at = to - length + 1;
        continue;
      }
      const next = lineAfter(bytes, at + found + length);
      if (next !== undefined) return { at: at + found, next };
      if (++this.#falseBoundaries > MAX_FALSE_BOUNDARIES) throw badBoundary(field);
      at += found + 1;
    }
  }

  async #searched(bytes: number): Promise<void> {
    this.#searchedBytes += bytes;
    if (this.#searchedBytes < SEARCH_BYTES) return;
    this.#searchedBytes = 0;
    await nextTurn();
  }
}

function entryOf({ name, fileName, mimeType, file }: PartHead, bytes: Buffer): FormEntry {
  if (!file) return { name, value: textOfField(bytes, name) };
  return withoutAbsent({ name, mimeType, bytes, fileName });
}
