const HEAD_BYTES = 44;

/** The head of a WAV file for this many bytes of samples: 16 bits, one channel. */
export function wavHead(bytes: number, rate: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(HEAD_BYTES - 8 + bytes, 4);
  head.write("WAVEfmt ", 8, "latin1");
  // Sixteen bytes of format: PCM, one channel, sample rate, bytes per second, bytes per sample, bits per sample.
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(bytes, 40);
  return head;
}
