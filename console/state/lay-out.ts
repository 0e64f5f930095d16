const MAX_DEPTH = 40;
const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|$)|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * JSON with a line for each field, as it was written: numbers keep their digits and texts their escapes, and what is cut off is laid
 * out as far as it goes. Events of a stream, and what is no JSON, stay as they are.
 */
export function layOut(text: string): string {
  if (!/^\s*[{[]/.test(text)) return text;
  const parts: string[] = [];
  let depth = 0;
  let last = ":";
  const newLine = () => `\n${"  ".repeat(Math.min(depth, MAX_DEPTH))}`;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "}" || token === "]") {
      depth = Math.max(0, depth - 1);
      if (last !== "{" && last !== "[") parts.push(newLine());
    } else if (token !== "," && token !== ":" && last !== ":") parts.push(newLine());
    parts.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth++;
    last = token;
  }
  return parts.join("");
}
