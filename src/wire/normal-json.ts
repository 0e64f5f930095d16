import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  isSpace,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from "./json-text.ts";

/** Longer numbers may lose digits when they are read, so their spelling is kept. */
const MAX_DIGITS = 15;

/**
 * A JSON object without differences that no parser sees: white space, and the spelling of strings and numbers. The order of members
 * and repeated members stay, because a model may read them. `ignored` members of the object itself are left out. Each value ends
 * with a comma, so the result is not JSON. The text must be valid JSON.
 */
export function normalJson(text: string, ignored: ReadonlySet<string>): string {
  const parts: string[] = [];
  let depth = 0;
  let isKey = false;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) at++;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth++;
      isKey = depth === 1 && code === OPEN_OBJECT;
      parts.push(code === OPEN_OBJECT ? "{" : "[");
      at++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth--;
      parts.push(code === CLOSE_OBJECT ? "}," : "],");
      at++;
    } else if (code === COMMA) {
      isKey = depth === 1;
      at++;
    } else if (code === COLON) {
      isKey = false;
      parts.push(":");
      at++;
    } else if (code === QUOTE) {
      const end = endOfString(text, at + 1);
      const raw = text.slice(at, end);
      const normal = raw.includes("\\") ? JSON.stringify(JSON.parse(raw)) : raw;
      if (isKey && ignored.has(JSON.parse(normal) as string)) {
        at = endOfMember(text, end);
        continue;
      }
      parts.push(normal, ",");
      at = end;
    } else {
      const end = endOfWord(text, at);
      parts.push(normalWord(text.slice(at, end)), ",");
      at = end;
    }
  }
  return parts.join("");
}

function endOfWord(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_ARRAY || isSpace(code)) break;
  }
  return at;
}

/** `1.0` and `1e0` are the number 1. */
function normalWord(word: string): string {
  const first = word.charCodeAt(0);
  const isNumber = word[0] === "-" || (first >= 0x30 && first <= 0x39);
  if (!isNumber || word.replace(/[eE].*$/, "").replace(/\D/g, "").length > MAX_DIGITS) return word;
  const value = Number(word);
  return Number.isFinite(value) && !Object.is(value, 0) && !Object.is(value, -0) ? String(value) : word;
}

/** The offset after the value of a member whose key ends at `from`. */
function endOfMember(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at + 1);
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      if (depth === 0) return at;
      depth--;
    } else if (code === COMMA && depth === 0) return at;
    at++;
  }
  return at;
}
