/** Text up to this length is parsed normally. In longer text, values longer than this are lifted out first. */
const LIFTED_LENGTH = 256 * 1024;

/**
 * `JSON.parse` for text that contains images. Parsing copies each string; here long strings become slices that share the memory
 * of the text, and only the rest is parsed.
 */
export function parseLargeJson(text: string): unknown {
  if (text.length <= LIFTED_LENGTH) return JSON.parse(text);
  const lifted: string[] = [];
  let frame = "";
  let kept = 0;
  for (const { start, end } of longStrings(text)) {
    // A placeholder, an object whose only key is empty, replaces the string and its quotes.
    frame += `${text.slice(kept, start - 1)}{"":${lifted.length}}`;
    lifted.push(text.slice(start, end));
    kept = end + 1;
  }
  // If the text has an empty key itself, its value could be mistaken for a placeholder. No known host sends one.
  if (lifted.length === 0 || /""\s*:/.test(text)) return JSON.parse(text);
  return putBack(JSON.parse(frame + text.slice(kept)), lifted);
}

/** The spans of long values that contain no escapes. Keys are skipped. */
function* longStrings(text: string): Generator<{ start: number; end: number }> {
  let backslash = text.indexOf("\\");
  for (let start = text.indexOf('"') + 1; start > 0; ) {
    let end = text.indexOf('"', start);
    const plain = () => backslash < 0 || backslash >= end;
    if (backslash >= 0 && backslash < start) backslash = text.indexOf("\\", start);
    if (end - start > LIFTED_LENGTH && plain() && !/^\s*:/.test(text.slice(end + 1, end + 32))) yield { start, end };
    while (end >= 0 && !plain()) {
      // Skips the escaped character, which may be a quote.
      const next = backslash + 2;
      if (next > end) end = text.indexOf('"', next);
      backslash = text.indexOf("\\", next);
    }
    if (end < 0) return;
    start = text.indexOf('"', end + 1) + 1;
  }
}

function putBack(value: unknown, lifted: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => putBack(item, lifted));
  if (typeof value !== "object" || value === null) return value;
  if ("" in value) return lifted[Number(value[""])];
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, putBack(item, lifted)]));
}
