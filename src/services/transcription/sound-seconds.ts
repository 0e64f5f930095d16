/** What a second of compressed speech takes, where nothing better is known: 32 kbit/s. */
const BYTES_PER_SECOND = 4_000;

const MAX_CHUNKS = 64;

/** How long a recording is: of a WAV file exactly, of any other by its size. */
export function soundSeconds(bytes: Uint8Array): number {
  return wavSeconds(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) ?? bytes.length / BYTES_PER_SECOND;
}

function wavSeconds(file: Buffer): number | undefined {
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let bytesPerSecond = 0;
  for (let at = 12, chunks = 0; at + 8 <= file.length && chunks < MAX_CHUNKS; chunks++) {
    const name = file.toString("latin1", at, at + 4);
    const size = file.readUInt32LE(at + 4);
    if (name === "fmt " && at + 20 <= file.length) bytesPerSecond = file.readUInt32LE(at + 16);
    // The head of a stream may name a length beyond the file.
    if (name === "data") return bytesPerSecond > 0 ? Math.min(size, file.length - at - 8) / bytesPerSecond : undefined;
    at += 8 + size + (size % 2);
  }
  return undefined;
}
