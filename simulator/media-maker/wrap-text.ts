/** Breaks a text into lines of at most `columns` characters, and cuts it, visibly, after `most` lines. */
export function wrapText(text: string, columns: number, max: number): string[] {
  const lines: string[][] = [];
  let line: string[] = [];
  for (const word of text.split(/\s+/)) {
    let rest = Array.from(word);
    if (rest.length === 0) continue;
    if (line.length > 0 && line.length + 1 + rest.length <= columns) {
      line.push(" ", ...rest);
      continue;
    }
    if (line.length > 0) lines.push(line);
    while (rest.length > columns) {
      lines.push(rest.slice(0, columns));
      rest = rest.slice(columns);
    }
    line = rest;
    if (lines.length > max) break;
  }
  if (line.length > 0) lines.push(line);
  const kept = lines.slice(0, max);
  if (lines.length > max) {
    const cut = [...(kept.pop() ?? []), " ", ...(lines[max] ?? [])].slice(0, Math.max(0, columns - 3));
    kept.push([...cut, "..."]);
  }
  return kept.map((characters) => characters.join(""));
}
