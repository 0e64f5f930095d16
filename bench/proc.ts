import { dlopen } from "bun:ffi";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** The kernel shows times in hundredths of a second, whatever its own clock. */
const TICKS_PER_SECOND = 100;
const BYTES_PER_MEGABYTE = 1024 * 1024;

export const hasProc = () => existsSync("/proc/self/stat");

/** The fields behind the program's name, which is in brackets and may hold anything; the first is the process's state. */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** CPU time of whole processes, in user and kernel mode. */
export function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = statFields(pid);
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / TICKS_PER_SECOND;
}

const loadClock = () => dlopen("libc.so.6", { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } }).symbols;
/** Loaded on first use: other systems do not have this library, and get an error that the benchmark needs Linux. */
let clock: ReturnType<typeof loadClock> | undefined;
const timespec = new BigInt64Array(2);

/** The same to the microsecond: by the clock that the kernel has of each process. */
export function cpuMicroseconds(pids: readonly number[]): number {
  clock ??= loadClock();
  let sum = 0;
  for (const pid of pids) {
    // The number of that clock: the process's, in the bits above the lowest three, which say that all its threads count.
    if (clock.clock_gettime((~pid << 3) | 2, timespec) !== 0) throw new Error(`no such process: ${pid}`);
    sum += Number(timespec[0]) * 1e6 + Number(timespec[1]) / 1e3;
  }
  return sum;
}

export function residentMegabytes(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids) {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
    kilobytes += Number(found?.[1] ?? Number.NaN);
  }
  return (kilobytes * 1024) / BYTES_PER_MEGABYTE;
}

export function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return Number.isInteger(pid) && Number(statFields(pid)[1]) === parent;
      } catch {
        // Processes end while the list is read.
        return false;
      }
    });
}

/** What all processors together were busy with since the machine started, what its host took from it included. */
export function machineBusySeconds(): number {
  const [, ...ticks] = (readFileSync("/proc/stat", "latin1").split("\n")[0] ?? "").split(/\s+/).map(Number);
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, stolen = 0] = ticks;
  return (user + nice + system + interrupts + softInterrupts + stolen) / TICKS_PER_SECOND;
}

/** How many sockets listen on a port of this machine: one for each process that shares it. */
export async function listenersAt(port: number): Promise<number> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const tables = await Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map((path) => Bun.file(path).text()));
  const rows = tables.flatMap((table) => table.split("\n")).map((line) => line.trim().split(/\s+/));
  return rows.filter(([, address, , listens]) => address?.endsWith(local) && listens === "0A").length;
}
