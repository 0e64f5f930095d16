import { isUtf8 } from "node:buffer";

/** Up to here, bytes that are no text are repaired as every reader does. */
const REPAIRED_BYTES = 1024 * 1024;

/**
 * Whether bytes are no UTF-8, and too many to be repaired: each of them would become a character of three bytes, in a long turn of
 * the event loop (S18). No host was seen that sends such.
 */
export const isBrokenText = (bytes: Uint8Array): boolean => bytes.length > REPAIRED_BYTES && !isUtf8(bytes);
