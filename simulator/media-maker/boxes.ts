type Content = Uint8Array | readonly number[];

/** Big-endian numbers of four bytes. */
export function words(...values: number[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}

export function halves(...values: number[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

/** A box of an MP4 file: its length, its name, what is in it. */
export function box(name: string, ...contents: Content[]): Uint8Array {
  const data = contents.map((content) => (content instanceof Uint8Array ? content : Uint8Array.from(content)));
  const length = data.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([words(length), Buffer.from(name, "latin1"), ...data], length);
}

/** What is in the box at the end of a path such as `moov/trak`, the first of each name. */
export function findBox(file: Uint8Array, path: string): Buffer {
  let inside = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  for (const name of path.split("/")) {
    let at = 0;
    while (at + 8 <= inside.length && inside.toString("latin1", at + 4, at + 8) !== name) {
      at += Math.max(8, inside.readUInt32BE(at));
    }
    if (at + 8 > inside.length) throw new Error(`the video has no box ${path}`);
    inside = inside.subarray(at + 8, at + inside.readUInt32BE(at));
  }
  return inside;
}
