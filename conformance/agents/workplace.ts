import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Glob } from "bun";

const WORK_TIMEOUT_MS = 120_000;

interface Ran {
  output: string;
  complaints: string;
  code: number;
}

/** A work folder and a separate home for an agent; nothing of this machine's environment reaches it. */
export class Workplace {
  readonly #folder = mkdtempSync(join(tmpdir(), "trivium-agent-work-"));
  readonly #home = join(this.#folder, "home");
  readonly #work = join(this.#folder, "work");

  constructor(home: Readonly<Record<string, object>>) {
    for (const path of [this.#home, this.#work]) mkdirSync(path);
    for (const [name, content] of Object.entries(home)) {
      mkdirSync(dirname(join(this.#home, name)), { recursive: true });
      writeFileSync(join(this.#home, name), JSON.stringify(content));
    }
  }

  path(name: string): string {
    return join(this.#work, name);
  }

  write(name: string, content: string | Uint8Array): void {
    writeFileSync(this.path(name), content);
  }

  /** Undefined where the file does not exist. */
  read(name: string): string | undefined {
    try {
      return readFileSync(this.path(name), "utf8");
    } catch {
      return undefined;
    }
  }

  /** The files of its home folder that match a pattern. */
  inHome(pattern: string): string[] {
    const paths = new Glob(pattern).scanSync({ cwd: this.#home, dot: true });
    return [...paths].map((path) => readFileSync(join(this.#home, path), "utf8"));
  }

  async run(command: string[], environment: Record<string, string>, input: string | undefined): Promise<Ran> {
    const child = Bun.spawn(command, {
      cwd: this.#work,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: this.#home,
        TMPDIR: this.#folder,
        TERM: "xterm-256color",
        ...environment,
      },
      stdin: input === undefined ? "ignore" : new Blob([input]),
      stdout: "pipe",
      stderr: "pipe",
      // A separate process group, so that everything the agent started ends with it.
      detached: true,
    });
    const tooLate = setTimeout(() => process.kill(-child.pid, "SIGKILL"), WORK_TIMEOUT_MS);
    const [output, complaints, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    clearTimeout(tooLate);
    return { output, complaints, code };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
