import { withoutAbsent } from "../base/without-absent.ts";
import {
  badBoundary,
  boundaryOf,
  cutOff,
  delimiterOf,
  fieldTooLarge,
  lineAfter,
  MAX_FALSE_BOUNDARIES,
  MAX_HEAD_BYTES,
  type MultipartLimits,
  notAForm,
  readHead,
  textOfField,
} from "./multipart-grammar.ts";
import type { PartHead } from "./multipart-head.ts";

/** One part of a form. A file's content is read while it arrives; what is not read before the next part is skipped. */
export type ArrivingEntry =
  | { name: string; value: string }
  | { name: string; fileName?: string; mimeType: string; content: AsyncIterable<Uint8Array> };

/** Reads a form while it arrives, so that a file of any size is never held in memory. */
export async function* readArrivingForm(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  limits: MultipartLimits,
): AsyncGenerator<ArrivingEntry, void, void> {
  const source = body[Symbol.asyncIterator]();
  const form = new ArrivingForm(source, boundaryOf(contentType));
  try {
    await form.skipPreamble();
    for (let parts = 0; !form.ended; parts++) {
      const head = await form.head(parts, limits);
      const content = form.content(head.name);
      if (!head.file) {
        yield { name: head.name, value: await readField(content, head, limits) };
        continue;
      }
      const { name, fileName, mimeType } = head;
      yield withoutAbsent({ name, fileName, mimeType, content });
      for await (const _ of content);
    }
  } finally {
    await source.return?.();
  }
}

async function readField(content: AsyncIterable<Uint8Array>, head: PartHead, limits: MultipartLimits): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > limits.maxFieldBytes) throw fieldTooLarge(head, limits);
    chunks.push(chunk);
  }
  return textOfField(Buffer.concat(chunks, size), head.name);
}

class ArrivingForm {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** What has arrived and was not passed on. It begins with the line end that precedes every boundary. */
  #pending = Buffer.from("\r\n");
  #falseBoundaries = 0;
  ended = false;

  constructor(source: AsyncIterator<Uint8Array>, boundary: string) {
    this.#source = source;
    this.#delimiter = delimiterOf(boundary);
  }

  async skipPreamble(): Promise<void> {
    let size = 0;
    for await (const chunk of this.content(undefined, notAForm)) {
      size += chunk.length;
      if (size > MAX_HEAD_BYTES) throw notAForm();
    }
  }

  async head(parts: number, limits: MultipartLimits): Promise<PartHead> {
    while (!this.#pending.includes("\r\n\r\n") && this.#pending.length <= MAX_HEAD_BYTES) {
      if (!(await this.#receive())) break;
    }
    const head = readHead(this.#pending, 0, parts, limits);
    this.#pending = this.#pending.subarray(head.bodyAt);
    return head;
  }

  /** The bytes up to the next boundary, which it consumes. */
  async *content(field: string | undefined, ends = () => cutOff(field)): AsyncGenerator<Uint8Array, void, void> {
    const delimiter = this.#delimiter;
    for (let from = 0; ; ) {
      const at = this.#pending.indexOf(delimiter, from);
      const next = at < 0 ? undefined : lineAfter(this.#pending, at + delimiter.length);
      if (at >= 0 && next === undefined) {
        if (++this.#falseBoundaries > MAX_FALSE_BOUNDARIES) throw badBoundary(field);
        from = at + 1;
        continue;
      }
      // The end of what has arrived may be the beginning of a boundary.
      const certain = at >= 0 ? at : Math.max(0, this.#pending.length - delimiter.length + 1);
      const part = this.#pending.subarray(0, certain);
      this.#pending = this.#pending.subarray(typeof next === "number" ? next : certain);
      this.ended = next === "end";
      if (part.length > 0) yield part;
      if (next !== undefined && next !== "cut") return;
      from = 0;
      if (!(await this.#receive())) throw ends();
    }
  }

  async #receive(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#pending = Buffer.concat([this.#pending, value]);
    return true;
  }
}
