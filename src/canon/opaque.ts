import { GatewayError } from "./error.ts";

/**
 * A value that only its creator can read: a signature, or encrypted or redacted reasoning. It is returned unchanged to its origin, and to
 * no one else (H01, H02).
 */
export interface Opaque {
  /** Who created it. A dialect of one family of providers is its own origin; chat providers are distinguished by kind. */
  origin: string;
  kind: OpaqueKind;
  value: string;
  /** The origin's own name for the value's format, returned with it. */
  format?: string;
}

/** The `format` of a base64 value whose bytes another API of the same origin carries as text. */
export const BYTES = "base64";

const KINDS = ["signature", "redacted", "encrypted", "native", "text", "thoughts"] as const;

/**
 * `native`: a whole block that exists only in its own dialect. `text`: unsigned reasoning that the client does not show
 * but the provider expects back. `thoughts`: signed reasoning on a call. opaque-carriers.ts makes and reads `native` and `thoughts`.
 */
type OpaqueKind = (typeof KINDS)[number];

const MARK = "trv1.";

/** Encodes an opaque value as text, for protocols of other families, which carry it in place of their own signatures. */
export function wrapOpaque({ origin, kind, value, format }: Opaque): string {
  return (
    MARK + toBase64Url(JSON.stringify(format === undefined ? [origin, kind, value] : [origin, kind, value, format]))
  );
}

/** The wrapped value, or undefined if the text is not ours. Throws if it is ours but was altered. */
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

/** The error for a value that a client altered. */
export const altered = (cause?: unknown): GatewayError =>
  new GatewayError(
    "invalid_request",
    `A signature in the history was altered. Return values that start with ${MARK} exactly as you received them.`,
    { cause },
  );

/** The same for protocols that require base64. */
export const wrapOpaqueBase64 = (opaque: Opaque): string => btoa(wrapOpaque(opaque));

export function unwrapOpaqueBase64(text: string): Opaque | undefined {
  if (!text.startsWith(WRAPPED_BASE64_MARK)) return undefined;
  const wrapped = Buffer.from(text, "base64").toString("latin1");
  return unwrapOpaque(wrapped);
}

/** The prefix of every wrapped value. A body is searched for it, and for its base64 form, before it is parsed in detail. */
export const WRAPPED_MARK = MARK;
const WRAPPED_BASE64_MARK = "dHJ2MS";

const toBase64Url = (text: string): string => Buffer.from(text).toString("base64url");
const fromBase64Url = (text: string): string => Buffer.from(text, "base64url").toString();
