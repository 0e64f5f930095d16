import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = new URL("..", import.meta.url).pathname;
const FENCE = /^( *)```(\w*)([^\n]*)\n([\s\S]*?)^\1```$/gm;

/** A block of code of a page. */
export interface Block {
  /** Where its first line of code is in the file. */
  line: number;
  language: string;
  /** The words after the language, such as `excerpt: needs Kubernetes`. */
  note: string;
  code: string;
}

/** Its language and its note. */
export const labelOf = ({ language, note }: Block): string => `${language} ${note}`.trim();

/** A page of the documentation, by its path in the repository. */
export class Page {
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The text without its blocks. */
  readonly prose: string;

  constructor(readonly file: string) {
    this.text = readFileSync(join(ROOT, file), "utf8");
    this.prose = this.text.replaceAll(FENCE, "");
    this.blocks = [...this.text.matchAll(FENCE)].map((found) => {
      const [, indent = "", language = "", note = "", code = ""] = found;
      return {
        line: this.text.slice(0, found.index).split("\n").length + 1,
        language,
        note: note.trim(),
        code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      };
    });
  }

  /** The code of the only block with this language and note, such as `json` or `ts receiver`. */
  one(label: string): string {
    const found = this.blocks.filter((block) => labelOf(block) === label);
    if (found.length !== 1) throw new Error(`${this.file}: ${found.length} blocks with ${label}`);
    return found[0]?.code ?? "";
  }

  /** The rows of the tables whose heading row begins with these titles, cell by cell, without the marks of code. */
  rowsUnder(...titles: string[]): string[][] {
    const rows: string[][] = [];
    let inside = false;
    for (const line of this.prose.split("\n")) {
      const cells = line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.replaceAll("`", "").trim());
      if (!line.trimStart().startsWith("|")) inside = false;
      else if (inside && !/^\s*\|[\s|:-]+$/.test(line)) rows.push(cells);
      else if (!inside) inside = titles.every((title, column) => cells[column] === title);
    }
    if (rows.length === 0) throw new Error(`${this.file}: no table under ${titles.join(", ")}`);
    return rows;
  }
}
