import { expect } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment, TRIVIUM } from "../support/program.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { PageShell } from "./page-shell.ts";

export const ROOT = new URL("../..", import.meta.url).pathname;

/** A gateway, as its first start describes it. */
interface Started {
  url: string;
  adminUrl: string;
  key: string;
  adminSecret: string;
  stop(): Promise<void>;
}

/** Somebody who follows a page. */
export class Reader {
  #shell: PageShell | undefined;

  private constructor(
    /** The working folder. At first it has `bin/trivium`, and what the gateway has written. */
    readonly folder: string,
    /** The variables of Get started, and those that the page expects besides. */
    readonly environment: Record<string, string>,
    public gateway: Started,
  ) {}

  /** With a gateway, unless the page starts it or needs none. */
  static async begin(config: object | "none" | "started by the page"): Promise<Reader> {
    const folder = openFolder(config === "started by the page" ? join(ROOT, "bin/trivium") : TRIVIUM);
    const environment = bareEnvironment({ HOME: folder, PYTHONDONTWRITEBYTECODE: "1" });
    if (typeof config === "string") return new Reader(folder, environment, NOT_STARTED);
    const gateway = await startHere(folder, config);
    Object.assign(environment, {
      TRIVIUM_URL: gateway.url,
      TRIVIUM_API_KEY: gateway.key,
      TRIVIUM_ADMIN_URL: gateway.adminUrl,
      TRIVIUM_ADMIN_SECRET: gateway.adminSecret,
    });
    return new Reader(folder, environment, gateway);
  }

  /** Runs what package.json starts, on free ports. */
  async start(): Promise<void> {
    this.gateway = await startProgram(this.folder);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    this.gateway = { ...this.gateway, stop: async () => {} };
  }

  /** Pastes a block into the terminal; returns what it prints. */
  paste(code: string): Promise<string> {
    return this.#terminal.run(this.filledIn(code));
  }

  /** The environment of the terminal, with what blocks have exported. */
  variables(): Promise<Record<string, string>> {
    return this.#terminal.variables();
  }

  /** Writes an example to a file and runs it; returns what it prints. It must succeed, and say nothing on standard error. */
  async run(command: readonly string[], name: string, code: string): Promise<string> {
    this.write(name, this.filledIn(code));
    const child = Bun.spawn([...command, name], {
      cwd: this.folder,
      env: await this.variables(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 60_000,
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect({ code: await child.exited, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  }

  read(name: string): Buffer {
    return readFileSync(join(this.folder, name));
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.folder, name), content);
  }

  async end(): Promise<void> {
    await this.#shell?.end();
    await this.gateway.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The code with the addresses, secrets and folders that pages print others in place of. */
  filledIn(code: string): string {
    const { url, adminUrl, key, adminSecret } = this.gateway;
    return code
      .replaceAll("http://127.0.0.1:8787", url)
      .replaceAll("http://127.0.0.1:8788", adminUrl)
      .replaceAll("sk-trv-...", key)
      .replaceAll("trv-admin-...", adminSecret)
      .replaceAll("/var/backups/", `${this.folder}/`);
  }

  get #terminal(): PageShell {
    this.#shell ??= new PageShell(this.folder, this.environment);
    return this.#shell;
  }
}

const NOT_STARTED: Started = { url: "", adminUrl: "", key: "", adminSecret: "", stop: async () => {} };

/** In the repository, so that packages are found; `data` is no part of its history. */
function openFolder(program: string): string {
  mkdirSync(join(ROOT, "data"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "data", "page-"));
  mkdirSync(join(folder, "bin"));
  symlinkSync(program, join(folder, "bin/trivium"));
  return folder;
}

/** A first start in this process: it makes a key and an admin secret. */
async function startHere(folder: string, config: object): Promise<Started> {
  const sections = { simulator: true, keys: [], admin: {}, ...config };
  const { url, adminUrl, app, stop } = await startTestGateway({ folder, config: sections });
  const { apiKey: key = "", adminSecret = "" } = app.firstStart;
  return { url, adminUrl, key, adminSecret, stop };
}

async function startProgram(folder: string): Promise<Started> {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: { start: string } };
  writeFileSync(join(folder, "trivium.yaml"), "server: { port: 0 }\nadmin: { port: 0 }\n");
  const child = Bun.spawn(["sh", "-c", scripts.start], {
    cwd: folder,
    env: bareEnvironment({ HOME: folder }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  while (!printed.includes("Try it:")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`npm start has ended. It printed:\n${printed}`);
    printed += value;
  }
  const after = (title: string) => new RegExp(`^ *${RegExp.escape(title)} +(\\S+)`, "m").exec(printed)?.[1] ?? "";
  return {
    url: after("Anthropic base URL"),
    adminUrl: after("Admin API"),
    key: after("API key (shown once)"),
    adminSecret: after("Admin secret (shown once)"),
    stop: async () => {
      child.kill();
      await child.exited;
    },
  };
}
