import { nextTurn } from "../base/next-turn.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { MultipartError } from "./multipart-error.ts";
import { headerParameters, type PartHead, readPartHead } from "./multipart-head.ts";

/** One part of a form from a client. */
export type FormEntry =
  | { name: string; value: string }
  | { name: string; fileName?: string; mimeType: string; bytes: Uint8Array };

export type Form = readonly FormEntry[];

export interface MultipartLimits {
  maxParts: number;
  /** Applies to each field that is not a file. */
  maxFieldBytes: number;
}

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const MAX_HEAD_BYTES = 16 * 1024;
/** Spaces that a careless writer may leave after a boundary. */
const MAX_PADDING = 64;
const HEAD_END = Buffer.from("\r\n\r\n");
/** How much is searched at once. Other requests run in between. */
const SEARCH_BYTES = 4 * 1024 * 1024;
/** Content should not contain the boundary. A badly chosen one may occur a few times. */
const MAX_FALSE_BOUNDARIES = 10_000;

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

function boundaryOf(contentType: string): string {
  const boundary = headerParameters(contentType).get("boundary") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(contentType) || boundary.length < 1 || boundary.length > 70) {
    const right = "multipart/form-data with a boundary of 1 to 70 characters";
    throw new MultipartError("malformed", `The content type must be ${right}.`);
  }
  return boundary;
}

interface Boundary {
  /** Where the boundary begins and the content before it ends. */
  at: number;
  /** The offset of the next part's head, the end of the form, or `cut` if the body ends before this is known. */
  next: number | "end" | "cut";
}

class BoundarySearch {
  readonly bytes: Buffer;
  readonly #delimiter: Buffer;
  #falseBoundaries = 0;
  /** Since other requests last had their turn. */
  #searchedBytes = 0;

  constructor({ buffer, byteOffset, length }: Uint8Array, boundary: string) {
    this.bytes = Buffer.from(buffer, byteOffset, length);
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
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

/**
 * What follows a boundary: the end of its line, two dashes that end the form, or the end of the body. Undefined for anything
 * else: the boundary is then part of the content.
 */
function lineAfter(bytes: Buffer, from: number): Boundary["next"] | undefined {
  if (bytes[from] === DASH) {
    if (from + 1 >= bytes.length) return "cut";
    return bytes[from + 1] === DASH ? "end" : undefined;
  }
  let at = from;
  while (at < bytes.length && at - from < MAX_PADDING && (bytes[at] === 0x20 || bytes[at] === 0x09)) at++;
  if (at >= bytes.length) return "cut";
  if (bytes[at] !== CR) return undefined;
  if (at + 1 >= bytes.length) return "cut";
  return bytes[at + 1] === LF ? at : undefined;
}

/** The head starts at the line end of its boundary, so that a part without headers has an empty head. */
function readHead(bytes: Buffer, at: number, parts: number, limits: MultipartLimits): PartHead & { bodyAt: number } {
  const rest = bytes.subarray(at, at + MAX_HEAD_BYTES + HEAD_END.length);
  const size = rest.indexOf(HEAD_END);
  if (size < 0 && rest.length <= MAX_HEAD_BYTES) throw cutOff();
  if (size < 0) {
    throw new MultipartError("too_large", `The headers of a form part are larger than ${MAX_HEAD_BYTES} bytes.`);
  }
  if (parts >= limits.maxParts) {
    throw new MultipartError("too_large", `The form has more than ${limits.maxParts} parts.`);
  }
  const head = readPartHead(rest.toString("utf8", 2, Math.max(2, size)), parts + 1);
  return { ...head, bodyAt: at + size + HEAD_END.length };
}

function entryOf({ name, fileName, mimeType, file }: PartHead, bytes: Buffer): FormEntry {
  if (!file) return { name, value: textOf(bytes, name) };
  return withoutAbsent({ name, mimeType, bytes, fileName });
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new MultipartError("malformed", `The form field ${name} is not valid UTF-8.`, name);
  }
}

const notAForm = () =>
  new MultipartError(
    "malformed",
    'The body is not a multipart form: each part must start with a line of "--" and the boundary from the content type.',
  );

const cutOff = (field?: string) => new MultipartError("malformed", "The form ends before its last boundary.", field);

const fieldTooLarge = ({ name }: PartHead, { maxFieldBytes }: MultipartLimits) =>
  new MultipartError("too_large", `The form field ${name} is larger than ${maxFieldBytes} bytes.`, name);

const badBoundary = (field: string | undefined) =>
  new MultipartError(
    "malformed",
    `The form boundary occurs more than ${MAX_FALSE_BOUNDARIES} times in the content. Choose another boundary.`,
    field,
  );
