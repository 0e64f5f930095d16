import { expect } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TRIVIUM } from "./program.ts";

export const root = new URL("../..", import.meta.url).pathname;

/** An example of a document. */
export interface Block {
  language: string;
  code: string;
}

/** A document, by its path in the repository, and its examples. */
export class Page {
  readonly text: string;
  readonly blocks: readonly Block[];

  constructor(readonly file: string) {
    this.text = readFileSync(join(root, file), "utf8");
    // What is marked as a fragment cannot run by itself.
    this.blocks = [...this.text.matchAll(/^```(\w*)( fragment)?\n([\s\S]*?)^```$/gm)].flatMap(
      ([, language = "", fragment, code = ""]) => (fragment === undefined ? { language, code } : []),
    );
  }

  in(language: string): string[] {
    return this.blocks.filter((block) => block.language === language).map(({ code }) => code);
  }

  /** The only block of that language that holds these words. */
  one(language: string, words: string): string {
    const found = this.in(language).filter((code) => code.includes(words));
    expect({ file: this.file, words, found: found.length }).toEqual({ file: this.file, words, found: 1 });
    return found[0] ?? "";
  }

  /** The number of blocks of each language, so that none is added that no test runs. */
  counts(): Record<string, number> {
    return Object.fromEntries(
      [...new Set(this.blocks.map(({ language }) => language))].map((name) => [name, this.in(name).length]),
    );
  }

  /** Cells of the rows below a heading row that begins with these titles. */
  rowsUnder(...titles: string[]): string[][] {
    const lines = this.text.split("\n");
    const cells = (line: string) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
    const start = lines.findIndex((line) => titles.every((title, column) => cells(line)[column] === title));
    const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
    return lines.slice(start + 2, end).map(cells);
  }
}

/** Runs examples as a reader would, in a separate folder. */
export class ExampleFolder {
  readonly path: string;

  constructor(readonly environment: Readonly<Record<string, string>>) {
    // Inside the repository, so that the SDKs are found; `data` is no part of its history.
    mkdirSync(join(root, "data"), { recursive: true });
    this.path = mkdtempSync(join(root, "data", "examples-"));
  }

  /** What a command prints; it must end well and complain of nothing. */
  async run(command: readonly string[]): Promise<string> {
    const child = Bun.spawn([...command], {
      cwd: this.path,
      env: { PATH: process.env["PATH"] ?? "", HOME: this.path, PYTHONDONTWRITEBYTECODE: "1", ...this.environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 60_000,
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect({ code: await child.exited, stderr: withoutProgress(stderr) }).toEqual({ code: 0, stderr: "" });
    return stdout;
  }

  /** Documents call the program by its path in a checkout, which is not where the example runs. */
  shell(code: string, program = TRIVIUM): Promise<string> {
    return this.run(["sh", "-eu", "-c", code.replaceAll("bin/trivium", program)]);
  }

  typescript(code: string): Promise<string> {
    const file = join(this.path, `example-${Bun.hash(code).toString(36)}.ts`);
    writeFileSync(file, code);
    return this.run([join(root, "bin/bun"), file]);
  }

  read(name: string): Buffer {
    return readFileSync(join(this.path, name));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
    try {
      rmdirSync(join(root, "data"));
    } catch {
      // A real gateway may keep its data there.
    }
  }
}

/**
 * Progress of curl, and what the program prints about a chat's cost, a video's name and, every ten seconds, its
 * progress.
 */
const withoutProgress = (stderr: string): string =>
  stderr
    .replace(/^ *%[\s\S]*/m, "")
    .replaceAll(/^(?:Operation publishers\/.*|\d+ in, \d+ out, .*|\S+(?: {2}\d+ %)? {2}\d+:\d\d)\n/gm, "");

/** The words that the simulator answers with. */
export const ANSWER = /simulator speaking, not a model\. You wrote: “Hello, who are you\?”/;
