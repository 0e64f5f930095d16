/**
 * The same text in one piece. The runtime keeps a text that was put together as a tree of its parts, and walks through that tree
 * wherever the text becomes part of another. For texts that are kept and used by many calls.
 */
export const inOnePiece = (text: string): string => Buffer.from(text).toString();
