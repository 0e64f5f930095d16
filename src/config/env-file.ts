const LINE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^#\r\n]*?))\s*(?:#.*)?$/;

/** The variables of a file of `NAME=value` lines. Quotation marks around a value are not part of it; nothing is expanded. */
export function readEnvFile(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, name, double, single, bare] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    variables[name] =
      double?.replaceAll(/\\(.)/g, (_, letter) => (letter === "n" ? "\n" : letter)) ?? single ?? bare ?? "";
  }
  return variables;
}

/** The same file with these variables: their lines are replaced or added, and everything else stays unchanged. */
export function changeEnvFile(text: string, variables: Readonly<Record<string, string>>): string {
  const left = new Map(Object.entries(variables));
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const changed = lines.map((line) => {
    const name = LINE.exec(line)?.[1] ?? "";
    const value = left.get(name);
    if (value === undefined) return line;
    left.delete(name);
    return writeLine(name, value);
  });
  return `${[...changed, ...[...left].map(([name, value]) => writeLine(name, value))].join("\n")}\n`;
}

/** Nothing is special inside single quotes, as in shells. */
const writeLine = (name: string, value: string): string =>
  /^[\w@%+=:,./-]*$/.test(value)
    ? `${name}=${value}`
    : value.includes("'")
      ? `${name}="${value.replaceAll(/["\\$`]/g, "\\$&")}"`
      : `${name}='${value}'`;
