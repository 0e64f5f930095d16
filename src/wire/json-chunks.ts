/** Strings up to this length are written whole; longer ones in chunks of this length. */
const CHUNK_LENGTH = 256 * 1024;

/** Characters that JSON writes as an escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must be escaped
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * Yields the text of a JSON value in chunks, as `JSON.stringify` would write it. An image in base64 takes tens of megabytes, and
 * one string of everything would hold it twice; these chunks share the memory of the image.
 */
export function* jsonChunks(value: unknown): Generator<string, void> {
  let held = "";
  for (const chunk of walk(value)) {
    if (chunk.length < CHUNK_LENGTH) {
      held += chunk;
      if (held.length < CHUNK_LENGTH) continue;
    }
    if (held !== "") yield held;
    if (chunk.length >= CHUNK_LENGTH) yield chunk;
    held = "";
  }
  if (held !== "") yield held;
}

function* walk(value: unknown): Generator<string> {
  if (typeof value === "string" && value.length > CHUNK_LENGTH) yield* longString(value);
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield index === 0 ? "[" : ",";
      yield* walk(item ?? null);
    }
    yield value.length === 0 ? "[]" : "]";
  } else if (typeof value === "object" && value !== null) {
    let before = "{";
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* walk(item);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  } else yield JSON.stringify(value);
}

/** A cut inside a surrogate pair writes each half as an escape, and readers join them again. */
function* longString(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length; at += CHUNK_LENGTH) {
    const chunk = text.slice(at, at + CHUNK_LENGTH);
    yield ESCAPED.test(chunk) ? JSON.stringify(chunk).slice(1, -1) : chunk;
  }
  yield '"';
}
