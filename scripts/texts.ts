/**
 * `bin/bun scripts/texts.ts [folder …]`: every text in the sources that a person may read (errors, log lines, output of commands, the
 * console), one to a line after its file. Read the list from top to bottom before a release; CONTRIBUTING.md says what to look for.
 */
import { Glob } from "bun";

const root = new URL("..", import.meta.url).pathname;
const FOLDERS = ["src", "console"];
/** SQL statements and their parts. */
const SQL =
  /\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WHERE|ORDER BY|GROUP BY|ON CONFLICT|RETURNING|PRAGMA|VALUES)\b/;
/** At least two words: a single one is a name or a label. */
const PROSE = /[A-Za-z]{2,}[,:;.]? +[A-Za-z`"“'([{$]/;

const transpilers = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };

/** The literals of a source, in its order; what a template fills in reads `{}`. Texts of JSX are literals once it is transpiled. */
export function literalsOf(source: string, loader: "ts" | "tsx"): string[] {
  const code = transpilers[loader].transformSync(source);
  const found: string[] = [];
  let last = "";
  let at = 0;

  const readString = (quote: string): void => {
    const from = at++;
    while (at < code.length && code[at] !== quote) at += code[at] === "\\" ? 2 : 1;
    at++;
    found.push(unquoted(code.slice(from, at)));
  };
  const readTemplate = (): void => {
    at++;
    let text = "";
    while (at < code.length && code[at] !== "`") {
      if (code[at] === "$" && code[at + 1] === "{") {
        text += "{}";
        at += 2;
        readCode("}");
        at++;
      } else {
        const length = code[at] === "\\" ? 2 : 1;
        text += code.slice(at, at + length);
        at += length;
      }
    }
    at++;
    found.push(text.replaceAll("\\n", " ").replaceAll("\\`", "`"));
  };
  const readPattern = (): void => {
    for (let inClass = false; ; ) {
      at++;
      if (at >= code.length || code[at] === "\n") return;
      if (code[at] === "\\") at++;
      else if (code[at] === "[") inClass = true;
      else if (code[at] === "]") inClass = false;
      else if (code[at] === "/" && !inClass) return void at++;
    }
  };
  const readCode = (end: string): void => {
    for (let depth = 0; at < code.length; ) {
      const char = code[at] ?? "";
      if (char === end && depth === 0) return;
      if (char === '"' || char === "'") readString(char);
      else if (char === "`") readTemplate();
      else if (char === "/" && code[at + 1] === "/") at = endOfLine(code, at);
      // A slash after a value divides.
      else if (char === "/" && !/[\w$)\]}"'`]/.test(last) && code[at + 1] !== "*") readPattern();
      else {
        if (char === "{") depth++;
        else if (char === "}") depth--;
        at++;
      }
      if (!/\s/.test(char)) last = char;
    }
  };
  readCode("");
  return found;
}

const endOfLine = (code: string, from: number): number => {
  const end = code.indexOf("\n", from);
  return end === -1 ? code.length : end;
};

function unquoted(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal.slice(1, -1);
  }
}

/** Those for people. */
export const isProse = (text: string): boolean => PROSE.test(text) && !SQL.test(text) && !/^[\w-]+=|^\.|^\//.test(text);

export async function* textsOf(folders: readonly string[]): AsyncGenerator<{ file: string; text: string }> {
  for (const folder of folders) {
    const files = [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync(root)].sort();
    for (const file of files) {
      if (/\.(test|sample)\.|migrations/.test(file)) continue;
      const source = await Bun.file(`${root}${file}`).text();
      for (const text of literalsOf(source, file.endsWith("x") ? "tsx" : "ts"))
        if (isProse(text)) yield { file, text: text.replaceAll("\n", " ") };
    }
  }
}

if (import.meta.main) {
  const chosen = process.argv.slice(2);
  for await (const { file, text } of textsOf(chosen.length > 0 ? chosen : FOLDERS)) console.log(`${file}\t${text}`);
}
