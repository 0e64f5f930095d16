const MAX_DEPTH = 40;
const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|$)|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Puts each field of a JSON text on its own line. Numbers keep their digits and strings their escapes, and truncated JSON is laid out up
 * to the end. Text that is not JSON, such as the events of a stream, is returned unchanged.
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
