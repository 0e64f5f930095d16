/**
 * Flattens a string. The runtime keeps a concatenated string as a tree of its parts and walks the tree on each use. For
 * strings that many calls use.
 */
export const inOnePiece = (text: string): string => Buffer.from(text).toString();
