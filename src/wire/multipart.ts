import { MultipartError } from "./multipart-error.ts";
import { headerParameters, type PartHead, readPartHead } from "./multipart-head.ts";

/** One part of a form that a client sent. */
export type FormEntry =
  | { name: string; value: string }
  | { name: string; fileName?: string; mimeType: string; bytes: Uint8Array };

export type Form = readonly FormEntry[];

export interface MultipartLimits {
  /** For the whole body, including everything between the parts. */
  maxBytes: number;
  maxParts: number;
  /** Of one field that is no file. */
  maxFieldBytes: number;
}

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const MAX_HEAD_BYTES = 16 * 1024;
/** Blanks that a careless writer may leave after a boundary. */
const MAX_PADDING = 64;
const HEAD_END = Buffer.from("\r\n\r\n");
/** This much is searched at once; other calls run in between. */
const SEARCH_BYTES = 4 * 1024 * 1024;
/** A writer should choose a boundary that its content does not contain. A badly chosen one may occur a few times. */
const MAX_FALSE_BOUNDARIES = 10_000;

/**
 * Reads a form as its bytes arrive, cut anywhere. Nothing touches the disk, and reading stops at the first limit that is
 * passed: the rest of the body is not waited for.
 */
export async function readMultipart(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  contentType: string,
  limits: MultipartLimits,
): Promise<Form> {
  const reader = new FormReader(boundaryOf(contentType), limits);
  for await (const chunk of body) {
    reader.push(chunk);
    for (let searched = 0; reader.step(); ) {
      if (reader.searched - searched < SEARCH_BYTES) continue;
      searched = reader.searched;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return reader.end();
}

function boundaryOf(contentType: string): string {
  const boundary = headerParameters(contentType).get("boundary") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(contentType) || boundary.length < 1 || boundary.length > 70) {
    const right = "multipart/form-data with a boundary of 1 to 70 characters";
    throw new MultipartError("malformed", `The content type must be ${right}.`);
  }
  return boundary;
}

type State = "beginning" | "preamble" | "head" | "body" | "epilogue";

class FormReader {
  readonly #delimiter: Buffer;
  readonly #limits: MultipartLimits;
  readonly #entries: FormEntry[] = [];
  #rest: Buffer = Buffer.alloc(0);
  /** Up to here the rest is known to hold no boundary. */
  #clear = 0;
  #falseBoundaries = 0;
  /** Bytes that have been searched for a boundary. */
  searched = 0;
  #state: State = "beginning";
  #total = 0;
  #head: PartHead | undefined;
  #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(boundary: string, limits: MultipartLimits) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#limits = limits;
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.length;
    if (this.#total > this.#limits.maxBytes) {
      throw new MultipartError(
        "too_large",
        `The form is larger than ${this.#limits.maxBytes} bytes.`,
        this.#head?.name,
      );
    }
    if (this.#state === "epilogue") return;
    const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    this.#rest = this.#rest.length === 0 ? view : Buffer.concat([this.#rest, view]);
  }

  end(): Form {
    if (this.#state === "beginning" || this.#state === "preamble") {
      const right = 'each part begins with a line of "--" and the boundary that the content type names';
      throw new MultipartError("malformed", `The body is no form: ${right}.`);
    }
    if (this.#state !== "epilogue") {
      throw new MultipartError("malformed", "The form ends before its last boundary.", this.#head?.name);
    }
    return this.#entries;
  }

  /** Consumes one element of what has arrived; false while more bytes are needed. */
  step(): boolean {
    switch (this.#state) {
      case "beginning":
        return this.#readBeginning();
      case "preamble":
      case "body":
        return this.#readBody();
      case "head":
        return this.#readHead();
      case "epilogue":
        this.#rest = Buffer.alloc(0);
        return false;
    }
  }

  /** The preamble may be empty: then the first boundary has no line end of its own before it. */
  #readBeginning(): boolean {
    const rest = this.#rest;
    const boundary = this.#delimiter.subarray(2);
    if (rest.length < boundary.length) return false;
    const begins = rest.subarray(0, boundary.length).equals(boundary);
    const next = begins ? lineAfter(rest, boundary.length) : "other";
    if (next === undefined) return false;
    if (next === "other") this.#state = "preamble";
    else this.#pass(next);
    return true;
  }

  #readBody(): boolean {
    const rest = this.#rest;
    const from = this.#clear;
    const to = Math.min(rest.length, from + SEARCH_BYTES + this.#delimiter.length);
    const found = rest.subarray(from, to).indexOf(this.#delimiter);
    this.searched += to - from;
    if (found < 0) {
      this.#clear = this.#beginningOfDelimiter(from, to);
      if (to < rest.length) return true;
      this.#keepTo(this.#clear);
      return false;
    }
    const at = from + found;
    const next = lineAfter(rest, at + this.#delimiter.length);
    if (next === "other") {
      if (++this.#falseBoundaries > MAX_FALSE_BOUNDARIES) throw badBoundary(this.#head?.name);
      this.#clear = at + 1;
      return true;
    }
    this.#keepTo(at);
    if (next === undefined) return false;
    this.#finishPart();
    this.#pass(next === "last" ? next : next - at);
    return true;
  }

  /** Continues after a boundary. The line end stays: a part without any header then ends its head at once. */
  #pass(next: number | "last"): void {
    this.#state = next === "last" ? "epilogue" : "head";
    this.#rest = this.#rest.subarray(next === "last" ? this.#rest.length : next);
    this.#clear = 0;
  }

  /** A boundary may begin at the end of the searched bytes. If none can, nothing has to be copied. */
  #beginningOfDelimiter(from: number, to: number): number {
    const start = Math.max(from, to - this.#delimiter.length + 1);
    const at = this.#rest.subarray(start, to).indexOf(CR);
    return at < 0 ? to : start + at;
  }

  /** Everything before this offset is content. */
  #keepTo(at: number): void {
    this.#keep(this.#rest.subarray(0, at));
    this.#rest = this.#rest.subarray(at);
    this.#clear = 0;
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf(HEAD_END);
    if ((end < 0 ? this.#rest.length : end) > MAX_HEAD_BYTES) {
      throw new MultipartError("too_large", `The headers of a part are larger than ${MAX_HEAD_BYTES} bytes.`);
    }
    if (end < 0) return false;
    if (this.#entries.length >= this.#limits.maxParts) {
      throw new MultipartError("too_large", `The form has more than ${this.#limits.maxParts} parts.`);
    }
    this.#head = readPartHead(this.#rest.toString("utf8", 2, Math.max(2, end)), this.#entries.length + 1);
    this.#rest = this.#rest.subarray(end + HEAD_END.length);
    this.#state = "body";
    return true;
  }

  #keep(bytes: Uint8Array): void {
    const head = this.#head;
    if (bytes.length === 0 || head === undefined) return;
    this.#size += bytes.length;
    if (!head.file && this.#size > this.#limits.maxFieldBytes) {
      const problem = `The form field ${head.name} is larger than ${this.#limits.maxFieldBytes} bytes.`;
      throw new MultipartError("too_large", problem, head.name);
    }
    this.#chunks.push(bytes);
  }

  #finishPart(): void {
    const head = this.#head;
    if (head === undefined) return;
    const bytes = joined(this.#chunks);
    this.#chunks = [];
    this.#size = 0;
    this.#head = undefined;
    const { name, fileName, mimeType } = head;
    if (head.file) {
      this.#entries.push({ name, mimeType, bytes, ...(fileName === undefined ? {} : { fileName }) });
    } else this.#entries.push({ name, value: textOf(bytes, name) });
  }
}

/**
 * What follows a boundary: the end of its line, two dashes that end the form, or something that makes it part of the
 * content. Undefined while that is unknown.
 */
function lineAfter(bytes: Buffer, from: number): number | "last" | "other" | undefined {
  if (bytes[from] === DASH) {
    if (from + 1 >= bytes.length) return undefined;
    return bytes[from + 1] === DASH ? "last" : "other";
  }
  let at = from;
  while (at < bytes.length && at - from < MAX_PADDING && (bytes[at] === 0x20 || bytes[at] === 0x09)) at++;
  if (at >= bytes.length) return undefined;
  if (bytes[at] !== CR) return "other";
  if (at + 1 >= bytes.length) return undefined;
  return bytes[at + 1] === LF ? at : "other";
}

const badBoundary = (field: string | undefined) =>
  new MultipartError(
    "malformed",
    `The boundary of the form occurs more than ${MAX_FALSE_BOUNDARIES} times in its content: choose another.`,
    field,
  );

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new MultipartError("malformed", `The form field ${name} is not UTF-8.`, name);
  }
}
