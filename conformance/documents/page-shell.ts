import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const END = "-- the block has ended --";

/** A terminal: blocks that are run in it see the variables, functions and working folder that earlier ones have left. */
export class PageShell {
  readonly #scripts = mkdtempSync(join(tmpdir(), "trivium-shell-"));
  readonly #child;
  readonly #stdout;
  readonly #stderr;
  #blocks = 0;

  constructor(folder: string, environment: Record<string, string>) {
    this.#child = Bun.spawn(["sh"], {
      cwd: folder,
      env: environment,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#stdout = new Parts(this.#child.stdout);
    this.#stderr = new Parts(this.#child.stderr);
    this.#child.stdin.write("set -eu\n");
  }

  /** What a block prints. It must succeed, and print nothing on standard error except progress. */
  async run(code: string): Promise<string> {
    const script = join(this.#scripts, `block-${++this.#blocks}.sh`);
    writeFileSync(script, code);
    this.#child.stdin.write(`. '${script}' < /dev/null\necho '${END}'\necho '${END}' >&2\n`);
    this.#child.stdin.flush();
    const [output, complaints] = await Promise.all([this.#stdout.next(), this.#stderr.next()]);
    const problem = withoutProgress(complaints.text);
    if (!output.isWhole || problem !== "") {
      throw new Error(`${output.isWhole ? "" : "A command failed. "}${problem}\nIt printed:\n${output.text}`);
    }
    return output.text;
  }

  /** What programs that are started in it find in their environment. */
  async variables(): Promise<Record<string, string>> {
    const lines = (await this.run("env")).split("\n");
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
  }

  async end(): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
    rmSync(this.#scripts, { recursive: true });
  }
}

/** An output, divided where blocks end. */
class Parts {
  readonly #reader;
  readonly #decoder = new TextDecoder();
  #read = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** The output of the next block; all that there was if the shell has ended in it. */
  async next(): Promise<{ text: string; isWhole: boolean }> {
    for (;;) {
      const end = this.#read.indexOf(`${END}\n`);
      if (end >= 0) {
        const text = this.#read.slice(0, end);
        this.#read = this.#read.slice(end + END.length + 1);
        return { text, isWhole: true };
      }
      const { value, done } = await this.#reader.read();
      if (done) {
        const text = this.#read;
        this.#read = "";
        return { text, isWhole: false };
      }
      this.#read += this.#decoder.decode(value, { stream: true });
    }
  }
}

/**
 * Progress of curl, and what the program prints about the cost of a chat, the length of an answer, a video's name and, every ten
 * seconds, its progress.
 */
const withoutProgress = (stderr: string): string =>
  stderr
    .replace(/^ *%[\s\S]*/m, "")
    .replaceAll(
      /^(?:Operation publishers\/.*|\d+ in, \d+ out, .*|[\d.]+ s of sound, .*|receipt rcp_.*|written to .*|\S+(?: {2}\d+ %)? {2}\d+:\d\d)\n/gm,
      "",
    )
    .trim();
