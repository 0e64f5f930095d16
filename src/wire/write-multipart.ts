import { multipartPartHead } from "./multipart-part-head.ts";

/** One part of an outgoing form: text, or a file, whose bytes may be given as base64. */
export type WrittenPart =
  | { name: string; value: string }
  | { name: string; fileName: string; mimeType: string; base64: string }
  | { name: string; fileName: string; mimeType: string; bytes: Uint8Array };

interface WrittenForm {
  contentType: string;
  body: Uint8Array<ArrayBuffer>;
}

/**
 * Writes a form into one buffer and decodes files directly into it, so that a large upload is not copied again. The boundary must
 * be one that no file contains by chance.
 */
export function writeMultipart(parts: readonly WrittenPart[], boundary: string): WrittenForm {
  const heads = parts.map((part) => `--${boundary}\r\n${multipartPartHead(part)}\r\n\r\n`);
  const end = `--${boundary}--\r\n`;
  const size = parts.reduce(
    (sum, part, index) => sum + Buffer.byteLength(heads[index] ?? "") + sizeOf(part) + 2,
    Buffer.byteLength(end),
  );
  const body = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    at += body.write(heads[index] ?? "", at);
    at += writePart(body, part, at);
    at += body.write("\r\n", at);
  }
  at += body.write(end, at);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: body.subarray(0, at) };
}

function writePart(body: Buffer, part: WrittenPart, at: number): number {
  if ("value" in part) return body.write(part.value, at);
  if ("base64" in part) return body.write(part.base64, at, "base64");
  body.set(part.bytes, at);
  return part.bytes.length;
}

function sizeOf(part: WrittenPart): number {
  if ("value" in part) return Buffer.byteLength(part.value);
  return "base64" in part ? Buffer.byteLength(part.base64, "base64") : part.bytes.length;
}
