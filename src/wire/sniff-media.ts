/** The types that can be recognised by their first bytes. */
export const SNIFFABLE: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/jpg",
  "image/gif",
  "image/webp",
  "image/bmp",
  "image/tiff",
  "image/heic",
  "image/heif",
  "image/avif",
  "application/pdf",
]);

const BRANDS: ReadonlyMap<string, string> = new Map([
  ["heic", "image/heic"],
  ["heix", "image/heic"],
  ["mif1", "image/heif"],
  ["avif", "image/avif"],
  ["avis", "image/avif"],
]);

/** The type of an image or a PDF by its first bytes, whatever its host declares; undefined for anything else. */
export function sniffMedia(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("RIFF") && text.startsWith("WEBP", 8)) return "image/webp";
  if (text.startsWith("%PDF-")) return "application/pdf";
  if (text.startsWith("II*\0") || text.startsWith("MM\0*")) return "image/tiff";
  // Any text could begin with these two letters. In an image the four reserved bytes after the size are zero.
  if (text.startsWith("BM") && text.startsWith("\0\0\0\0", 6)) return "image/bmp";
  return text.startsWith("ftyp", 4) ? BRANDS.get(text.slice(8, 12)) : undefined;
}
