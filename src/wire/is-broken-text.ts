import { isUtf8 } from "node:buffer";

/** Invalid bytes up to this length are replaced, as every decoder does. */
const REPAIRED_BYTES = 1024 * 1024;

/**
 * Whether bytes are invalid UTF-8 and too long to repair: each invalid byte would become a character of three bytes and block the
 * event loop (S18). No known host sends this.
 */
export const isBrokenText = (bytes: Uint8Array): boolean => bytes.length > REPAIRED_BYTES && !isUtf8(bytes);
