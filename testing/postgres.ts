import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Glob } from "bun";
import { freePort } from "./free-port.ts";

export interface TemporaryPostgres {
  url: string;
  /** It accepts connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** It is gone, as by a crash; `start` brings it back with what was committed. */
  halt(): void;
  start(): void;
  stop(): Promise<void>;
}

/**
 * A PostgreSQL server for one test run, on a free loopback port with its data in a temporary folder. Undefined if no server
 * program is installed, or none that this user can start: PostgreSQL refuses to run as root, so root uses the `postgres` user
 * of the system's package.
 */
export async function startPostgres(): Promise<TemporaryPostgres | undefined> {
  const programs = [...new Glob("usr/lib/postgresql/*/bin/initdb").scanSync({ cwd: "/" })].sort().at(-1);
  const initdb = programs ? `/${programs}` : Bun.which("initdb");
  if (!initdb) return undefined;
  if (process.getuid?.() === 0 && Bun.which("runuser") === null) return undefined;
  const bin = initdb.slice(0, -"/initdb".length);
  const folder = mkdtempSync(join(placeOfData(), "trivium-postgres-"));
  const asUser = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];
  const run = (...command: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync([...asUser, ...command], {
      cwd: folder,
      stdout: "ignore",
      stderr: "pipe",
    });
    if (exitCode !== 0) throw new Error(`${command[0]} ended with ${exitCode}: ${stderr.toString()}`);
  };
  if (asUser.length > 0) Bun.spawnSync(["chown", "postgres", folder]);
  let port = freePort();
  const data = join(folder, "data");
  run(join(bin, "initdb"), "-D", data, "-U", "trivium", "--auth=trust", "--no-sync");
  // Durability and maintenance settings that tests do not need.
  const idle = "-c autovacuum=off -c checkpoint_timeout=1h -c max_wal_size=1GB -c jit=off";
  const options = () =>
    `-c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} -c fsync=off -c full_page_writes=off ${idle} -p ${port}`;
  const start = () => run(join(bin, "pg_ctl"), "-D", data, "-w", "-l", join(folder, "log"), "-o", options(), "start");
  const halt = () => run(join(bin, "pg_ctl"), "-D", data, "-m", "immediate", "stop");
  const server = () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  // The server first: one that runs would replace a connection that does not.
  const signal = (name: "SIGSTOP" | "SIGCONT") => {
    const pid = server();
    process.kill(pid, name);
    for (const child of childrenOf(pid)) signalOf(child, name);
  };
  for (let attempts = 5; ; attempts--) {
    try {
      start();
      break;
    } catch (thrown) {
      // Something else has taken the port.
      if (attempts === 1) throw thrown;
      port = freePort();
    }
  }
  return {
    url: `postgres://trivium@127.0.0.1:${port}/postgres`,
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    halt,
    start,
    stop: async () => {
      halt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const MEMORY = "/dev/shm";
const NEEDED_BYTES = 4 * 1024 ** 3;

/** In memory where there is much of it: a database is 300 files, and to make and remove them on a disk takes four times as long. */
function placeOfData(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

function signalOf(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent;
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}
