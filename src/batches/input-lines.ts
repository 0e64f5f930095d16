/** A line of a batch's input, and where its bytes are. */
export interface InputLine {
  /** Counted from one. */
  number: number;
  start: number;
  bytes: Buffer;
}

const LINE_FEED = 0x0a;

/** The lines of an input that are not empty, as it is read. Undefined stands for a line that is longer than `maxBytes`. */
export async function* inputLines(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<InputLine | undefined, void, void> {
  let pending: Buffer[] = [];
  let length = 0;
  let start = 0;
  let number = 0;
  const line = (): InputLine | undefined => {
    const bytes = pending.length === 1 && pending[0] !== undefined ? pending[0] : Buffer.concat(pending, length);
    number++;
    const found = bytes.toString("latin1", 0, Math.min(bytes.length, 8)).trim() === "" && isBlank(bytes);
    return found ? undefined : { number, start, bytes };
  };
  for await (const chunk of content) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    for (let from = 0; from < buffer.length; ) {
      const at = buffer.indexOf(LINE_FEED, from);
      const piece = buffer.subarray(from, at < 0 ? buffer.length : at);
      pending.push(piece);
      length += piece.length;
      if (length > maxBytes) return yield undefined;
      from += piece.length + 1;
      if (at < 0) break;
      const ended = line();
      if (ended !== undefined) yield ended;
      start += length + 1;
      pending = [];
      length = 0;
    }
  }
  const last = length === 0 ? undefined : line();
  if (last !== undefined) yield last;
}

const isBlank = (bytes: Buffer): boolean => bytes.toString().trim() === "";
