import { GatewayError } from "./error.ts";

/**
 * A value that only its maker can read: a signature, an encrypted or a redacted block of reasoning. It goes back to its
 * origin unchanged, and to no other (H01, H02).
 */
export interface Opaque {
  /** Who made it. A dialect that belongs to one family of hosts is its own origin; chat hosts are distinguished by kind. */
  origin: string;
  kind: OpaqueKind;
  value: string;
  /** A word of the origin's own about the value's form, sent back with it. */
  format?: string;
}

/** The `format` of a value that is base64 of the bytes which other roads to the same origin carry as text. */
export const BYTES = "base64";

const KINDS = ["signature", "redacted", "encrypted", "native", "text", "thoughts"] as const;

/**
 * `native`: a whole block that only its own dialect knows (native-carrier.ts). `text`: reasoning that the client does not want
 * to see, and whose maker, which signs nothing, wants it back. `thoughts`: signed reasoning on a call (thoughts-carrier.ts).
 */
type OpaqueKind = (typeof KINDS)[number];

const MARK = "trv1.";

/** An opaque value as a text that a protocol of another family carries where it has its own signatures. */
export function wrapOpaque({ origin, kind, value, format }: Opaque): string {
  return (
    MARK + toBase64Url(JSON.stringify(format === undefined ? [origin, kind, value] : [origin, kind, value, format]))
  );
}

/** The value inside such a text; undefined where the text is none of ours. Throws where it is ours no longer. */
export function unwrapOpaque(text: string): Opaque | undefined {
  if (!text.startsWith(MARK)) return undefined;
  const [origin, kind, value, format] = readWrapped(text.slice(MARK.length));
  const known = KINDS.find((name) => name === kind);
  if (typeof origin !== "string" || typeof value !== "string" || known === undefined) throw altered();
  return { origin, kind: known, value, ...(typeof format === "string" ? { format } : {}) };
}

function readWrapped(encoded: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(fromBase64Url(encoded));
    return Array.isArray(parsed) ? parsed : [];
  } catch (cause) {
    throw altered(cause);
  }
}

/** What a client changed in a value that it was to give back. */
export const altered = (cause?: unknown): GatewayError =>
  new GatewayError(
    "invalid_request",
    `A signature in the history was altered. Return values that start with ${MARK} exactly as you received them.`,
    { cause },
  );

/** The same, for protocols whose readers insist on base64. */
export const wrapOpaqueBase64 = (opaque: Opaque): string => btoa(wrapOpaque(opaque));

export function unwrapOpaqueBase64(text: string): Opaque | undefined {
  if (!text.startsWith(WRAPPED_BASE64_MARK)) return undefined;
  const wrapped = Buffer.from(text, "base64").toString("latin1");
  return unwrapOpaque(wrapped);
}

/** How every text of `wrapOpaque` begins, and how its base64 does: by these a body is searched before it is walked. */
export const WRAPPED_MARK = MARK;
const WRAPPED_BASE64_MARK = "dHJ2MS";

const toBase64Url = (text: string): string => Buffer.from(text).toString("base64url");
const fromBase64Url = (text: string): string => Buffer.from(text, "base64url").toString();
