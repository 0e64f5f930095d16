import { createHash } from "node:crypto";
import { sniffImage } from "./sniff-image.ts";
import { countTokens } from "./text/tokens.ts";
import { listen } from "./voice/listen.ts";

export type Modality = "TEXT" | "IMAGE" | "DOCUMENT" | "AUDIO" | "VIDEO";

/** An image, document or recording in a request, as far as its bytes show. */
export interface Media {
  modality: Modality;
  mimeType: string;
  /** A few words for the answer, such as `image/png of 12×8 pixels, 73 bytes`. */
  description: string;
  tokens: number;
  /** Stands for the bytes when a request is hashed. */
  fingerprint: string;
}

/** The bytes are not what the request says they are. */
export class MediaProblem extends Error {
  readonly declared: string;
  readonly found: string | undefined;

  constructor(declared: string, found: string | undefined) {
    super(`the data is not valid ${declared}`);
    this.declared = declared;
    this.found = found;
  }
}

/** Both alphabets, padded or not; `undefined` for anything else. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  if (standard.length % 4 === 1 || !/^[A-Za-z0-9+/]*$/.test(standard)) return undefined;
  return new Uint8Array(Buffer.from(standard, "base64"));
}

function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  return String.fromCharCode(...bytes.subarray(at, at + text.length)) === text;
}

function sniff(bytes: Uint8Array): string | undefined {
  const image = sniffImage(bytes);
  if (image !== undefined) return image.mimeType;
  if (startsWith(bytes, "%PDF-")) return "application/pdf";
  if (startsWith(bytes, "RIFF") && startsWith(bytes, "WAVE", 8)) return "audio/wav";
  if (startsWith(bytes, "ID3") || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0)) return "audio/mpeg";
  if (startsWith(bytes, "ftyp", 4)) return "video/mp4";
  return undefined;
}

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["audio/mp3", "audio/mpeg"],
  ["audio/x-wav", "audio/wav"],
]);

/** Types whose first bytes are known, so that a wrong label is noticed. */
const RECOGNISED = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "audio/wav",
  "audio/mpeg",
  "video/mp4",
]);

function modalityOf(mimeType: string): Modality {
  if (mimeType.startsWith("image/")) return "IMAGE";
  if (mimeType.startsWith("audio/")) return "AUDIO";
  if (mimeType.startsWith("video/")) return "VIDEO";
  return "DOCUMENT";
}

function fingerprintOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function pdfPages(bytes: Uint8Array): number {
  const pages = Buffer.from(bytes)
    .toString("latin1")
    .match(/\/Type\s*\/Page(?![a-zA-Z])/g);
  return Math.max(1, pages?.length ?? 1);
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function measure(bytes: Uint8Array, mimeType: string): { detail: string; tokens: number } {
  const size = sniffImage(bytes)?.size;
  if (size !== undefined) {
    const tokens = Math.min(1600, Math.max(1, Math.ceil((size.width * size.height) / 750)));
    return { detail: ` of ${size.width}×${size.height} pixels`, tokens };
  }
  if (mimeType === "application/pdf") {
    const pages = pdfPages(bytes);
    return { detail: ` of ${pages} page${pages === 1 ? "" : "s"}`, tokens: 250 * pages };
  }
  const tokens = Math.max(1, Math.ceil(bytes.length / 500));
  const said = mimeType.startsWith("audio/") ? listen(bytes).text : undefined;
  return { detail: said === undefined ? "" : ` that says ${JSON.stringify(said)}`, tokens };
}

/** Looks at the bytes; throws MediaProblem when they contradict the declared type. */
export function inspectMedia(bytes: Uint8Array, declared: string): Media {
  const plain = (declared.split(";")[0] ?? declared).trim().toLowerCase();
  const mimeType = SYNONYMS.get(plain) ?? plain;
  if (bytes.length === 0) throw new MediaProblem(declared, undefined);
  if (mimeType.startsWith("text/")) {
    const text = decodeText(bytes);
    if (text === undefined) throw new MediaProblem(declared, undefined);
    return textMedia(text, mimeType);
  }
  const found = sniff(bytes);
  if (RECOGNISED.has(mimeType) && found !== mimeType) throw new MediaProblem(declared, found);
  const { detail, tokens } = measure(bytes, mimeType);
  return {
    modality: modalityOf(mimeType),
    mimeType,
    description: `${mimeType}${detail}, ${bytes.length} bytes`,
    tokens,
    fingerprint: fingerprintOf(bytes),
  };
}

export function textMedia(text: string, mimeType: string): Media {
  return {
    modality: "DOCUMENT",
    mimeType,
    description: `${mimeType} of ${[...text].length} characters`,
    tokens: countTokens(text),
    fingerprint: fingerprintOf(Buffer.from(text)),
  };
}

/** The simulator makes no outgoing connections: URLs are named, not fetched. */
export function remoteMedia(url: string, mimeType: string): Media {
  return {
    modality: modalityOf(mimeType),
    mimeType,
    description: `${mimeType} at a URL that the simulator does not fetch`,
    tokens: 258,
    fingerprint: fingerprintOf(Buffer.from(url)),
  };
}
