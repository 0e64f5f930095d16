/** MPEG-2 layer III, 8 kbit/s, 24 kHz, mono: 24 bytes that last 24 ms. What follows the header is zero, which is silence. */
const FRAME = Uint8Array.from([0xff, 0xf3, 0x14, 0xc0, ...new Uint8Array(20)]);
const FRAME_SECONDS = 0.024;
const TAG_HEAD_BYTES = 10;
/** Encoding, language, and an empty description before the words themselves. */
const WORDS_AT = 2 * TAG_HEAD_BYTES + 5;

/** Seven bits of each byte count. */
const syncSafe = (size: number): number[] => [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f);

const sizeAt = (bytes: Uint8Array, at: number): number =>
  [0, 1, 2, 3].reduce((size, index) => (size << 7) | ((bytes[at + index] ?? 0) & 0x7f), 0);

/** Silence of that length, whose tag has the words: the simulator has no encoder for sound. */
export function writeMp3(text: string, seconds: number): Uint8Array {
  const words = Buffer.from(text);
  const frameSize = 5 + words.length;
  const tag = [
    ...Buffer.from("ID3\x04\x00\x00", "latin1"),
    ...syncSafe(TAG_HEAD_BYTES + frameSize),
    ...Buffer.from("USLT", "latin1"),
    ...syncSafe(frameSize),
    ...[0, 0],
    ...Buffer.from("\x03und\x00", "latin1"),
  ];
  const frames = Math.max(1, Math.ceil(seconds / FRAME_SECONDS));
  return Buffer.concat([Uint8Array.from(tag), words, ...Array<Uint8Array>(frames).fill(FRAME)]);
}

/** What `writeMp3` wrote; undefined for any other file. */
export function readMp3(bytes: Uint8Array): { text: string; seconds: number } | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.toString("latin1", 0, 3) !== "ID3" || file.toString("latin1", 10, 14) !== "USLT") return undefined;
  const end = TAG_HEAD_BYTES + sizeAt(file, 6);
  if (end < WORDS_AT || end > file.length) return undefined;
  const seconds = ((file.length - end) / FRAME.length) * FRAME_SECONDS;
  return { text: file.toString("utf8", WORDS_AT, end), seconds };
}
