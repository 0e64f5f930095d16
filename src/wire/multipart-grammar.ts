import { MultipartError } from "./multipart-error.ts";
import { headerParameters, type PartHead, readPartHead } from "./multipart-head.ts";

/** The grammar of a multipart form, for a reader of complete bodies and one of bodies that are still arriving. */

export interface MultipartLimits {
  maxParts: number;
  /** Applies to each field that is not a file. */
  maxFieldBytes: number;
}

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
export const MAX_HEAD_BYTES = 16 * 1024;
/** Spaces that a careless writer may leave after a boundary. */
const MAX_PADDING = 64;
const HEAD_END = Buffer.from("\r\n\r\n");
/** Content should not contain the boundary. A badly chosen one may occur a few times. */
export const MAX_FALSE_BOUNDARIES = 10_000;

export function boundaryOf(contentType: string): string {
  const boundary = headerParameters(contentType).get("boundary") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(contentType) || boundary.length < 1 || boundary.length > 70) {
    const right = "multipart/form-data with a boundary of 1 to 70 characters";
    throw new MultipartError("malformed", `The content type must be ${right}.`);
  }
  return boundary;
}

export const delimiterOf = (boundary: string): Buffer => Buffer.from(`\r\n--${boundary}`);

/** The offset of the next part's head, the end of the form, or `cut` if the bytes end before this is known. */
export type NextPart = number | "end" | "cut";

/**
 * What follows a boundary: the end of its line, two dashes that end the form, or the end of the body. Undefined for anything
 * else: the boundary is then part of the content.
 */
export function lineAfter(bytes: Buffer, from: number): NextPart | undefined {
  if (bytes[from] === DASH) {
    if (from + 1 >= bytes.length) return "cut";
    return bytes[from + 1] === DASH ? "end" : undefined;
  }
  let at = from;
  while (at < bytes.length && at - from < MAX_PADDING && (bytes[at] === 0x20 || bytes[at] === 0x09)) at++;
  if (at >= bytes.length) return "cut";
  if (bytes[at] !== CR) return undefined;
  if (at + 1 >= bytes.length) return "cut";
  return bytes[at + 1] === LF ? at : undefined;
}

/** The head starts at the line end of its boundary, so that a part without headers has an empty head. */
export function readHead(
  bytes: Buffer,
  at: number,
  parts: number,
  limits: MultipartLimits,
): PartHead & { bodyAt: number } {
  const rest = bytes.subarray(at, at + MAX_HEAD_BYTES + HEAD_END.length);
  const size = rest.indexOf(HEAD_END);
  if (size < 0 && rest.length <= MAX_HEAD_BYTES) throw cutOff();
  if (size < 0) {
    throw new MultipartError("too_large", `The headers of a form part are larger than ${MAX_HEAD_BYTES} bytes.`);
  }
  if (parts >= limits.maxParts) {
    throw new MultipartError("too_large", `The form has more than ${limits.maxParts} parts.`);
  }
  const head = readPartHead(rest.toString("utf8", 2, Math.max(2, size)), parts + 1);
  return { ...head, bodyAt: at + size + HEAD_END.length };
}

export function textOfField(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new MultipartError("malformed", `The form field ${name} is not valid UTF-8.`, name);
  }
}

export const notAForm = () =>
  new MultipartError(
    "malformed",
    'The body is not a multipart form: each part must start with a line of "--" and the boundary from the content type.',
  );

export const cutOff = (field?: string) =>
  new MultipartError("malformed", "The form ends before its last boundary.", field);

export const fieldTooLarge = ({ name }: PartHead, { maxFieldBytes }: MultipartLimits) =>
  new MultipartError("too_large", `The form field ${name} is larger than ${maxFieldBytes} bytes.`, name);

export const badBoundary = (field: string | undefined) =>
  new MultipartError(
    "malformed",
    `The form boundary occurs more than ${MAX_FALSE_BOUNDARIES} times in the content. Choose another boundary.`,
    field,
  );
