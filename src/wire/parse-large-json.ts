/** A text up to this length is parsed as it is; in a longer one, values longer than this are lifted out first. */
const LIFTED_LENGTH = 256 * 1024;

/**
 * `JSON.parse` for texts that hold images. Parsing copies each string; here the long ones become parts of the text itself,
 * which share its memory, and only what surrounds them is parsed.
 */
export function parseLargeJson(text: string): unknown {
  if (text.length <= LIFTED_LENGTH) return JSON.parse(text);
  const lifted: string[] = [];
  let frame = "";
  let kept = 0;
  for (const { start, end } of longStrings(text)) {
    // The quotes go too: a stand-in is an object whose one key is empty.
    frame += `${text.slice(kept, start - 1)}{"":${lifted.length}}`;
    lifted.push(text.slice(start, end));
    kept = end + 1;
  }
  // Where the text has an empty key of its own, its value could be taken for a stand-in. No host is known that sends one.
  if (lifted.length === 0 || /""\s*:/.test(text)) return JSON.parse(text);
  return putBack(JSON.parse(frame + text.slice(kept)), lifted);
}

/** The spans of the long values that are written without an escape. Keys do not count. */
function* longStrings(text: string): Generator<{ start: number; end: number }> {
  let backslash = text.indexOf("\\");
  for (let start = text.indexOf('"') + 1; start > 0; ) {
    let end = text.indexOf('"', start);
    const plain = () => backslash < 0 || backslash >= end;
    if (backslash >= 0 && backslash < start) backslash = text.indexOf("\\", start);
    if (end - start > LIFTED_LENGTH && plain() && !/^\s*:/.test(text.slice(end + 1, end + 32))) yield { start, end };
    while (end >= 0 && !plain()) {
      // The escaped character is passed over: it may be the quote.
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
