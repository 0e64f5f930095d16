import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../testing/free-port.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { bareEnvironment, TRIVIUM } from "../support/program.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const MB = 1024 * 1024;
const START_MS = 20_000;
/** The state of a socket in `/proc/net/tcp`. */
const LISTENS = "0A";

/** The whole program with its own memory and its own deadlines, in front of a scripted host. */
export class ProgramHarness {
  readonly upstream: ScriptedUpstream;
  readonly url: string;
  readonly adminUrl: string;
  readonly folder: string;
  readonly #child: Bun.Subprocess;

  private constructor(upstream: ScriptedUpstream, ports: [number, number], folder: string, child: Bun.Subprocess) {
    this.upstream = upstream;
    this.url = `http://127.0.0.1:${ports[0]}`;
    this.adminUrl = `http://127.0.0.1:${ports[1]}`;
    this.folder = folder;
    this.#child = child;
  }

  static async start(config: Record<string, unknown> = {}): Promise<ProgramHarness> {
    const upstream = await startScriptedUpstream();
    const folder = mkdtempSync(join(tmpdir(), "trivium-cheats-"));
    const ports: [number, number] = [freePort(), freePort()];
    const sections = {
      server: { host: "127.0.0.1", port: ports[0], drain_seconds: 1 },
      admin: { host: "127.0.0.1", port: ports[1], secret: TEST_ADMIN_SECRET },
      data_dir: join(folder, "data"),
      keys: [{ name: "tests", key: TEST_KEY }],
      ...scriptedModels(upstream.url, { first_byte: 20_000, idle: 20_000 }),
      ...config,
    };
    writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(sections));
    const child = Bun.spawn([TRIVIUM, "serve", "--workers", "1", "--config", join(folder, "trivium.yaml")], {
      cwd: folder,
      env: bareEnvironment(),
      stdout: "ignore",
      stderr: "ignore",
    });
    const harness = new ProgramHarness(upstream, ports, folder, child);
    await harness.#ready();
    return harness;
  }

  async #ready(): Promise<void> {
    const deadline = Date.now() + START_MS;
    for (;;) {
      const ready = await fetch(`${this.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (ready) return;
      if (Date.now() > deadline || this.#child.exitCode !== null) throw new Error("the program did not start");
      await Bun.sleep(50);
    }
  }

  /** What the program holds now, and has held at most since the last look, in MB. */
  memory(): { nowMb: number; mostMb: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    const read = (name: string) => Math.round((Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / MB);
    return { nowMb: read("VmRSS"), mostMb: read("VmHWM") };
  }

  /** Every port on which the program listens, as any user of the machine can find them. */
  ports(): number[] {
    const folder = `/proc/${this.#child.pid}/fd`;
    const inodes = new Set(
      readdirSync(folder).flatMap((name) => /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, name)))?.[1] ?? []),
    );
    return readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode = ""]) => state === LISTENS && inodes.has(inode))
      .map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16));
  }

  /** Resets the peak. */
  forgetMost(): void {
    try {
      writeFileSync(`/proc/${this.#child.pid}/clear_refs`, "5");
    } catch {
      // If that is not allowed, the maximum since the start is reported.
    }
  }

  /** How long the slowest of many small requests took during other work, in ms. */
  async slowest(meanwhile: Promise<unknown>): Promise<number> {
    let slowest = 0;
    let over = false;
    const end = () => {
      over = true;
    };
    meanwhile.then(end, end);
    while (!over) {
      const startedMs = performance.now();
      await fetch(`${this.url}/healthz`, { signal: AbortSignal.timeout(30_000) }).then((answer) => answer.text());
      slowest = Math.max(slowest, performance.now() - startedMs);
      await Bun.sleep(10);
    }
    return Math.round(slowest);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 8_000);
    await this.#child.exited;
    clearTimeout(late);
    await this.upstream.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
