import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const MAX_COMMAND_CHARACTERS = 200;

/**
 * Another process that has one of these open, such as `process 4711 (node server.js)`: files by their path, sockets as
 * `socket:[number]`. Undefined where the system does not say: outside Linux, in another container, and for processes of other
 * users unless this one is root's.
 */
export function processUsing(open: ReadonlySet<string>, alsoSelf = false): string | undefined {
  try {
    const pid = readdirSync("/proc").find(
      (name) => /^\d+$/.test(name) && (alsoSelf || Number(name) !== process.pid) && hasOpen(name, open),
    );
    return pid === undefined ? undefined : shown(firstOf(pid));
  } catch {
    return undefined;
  }
}

function hasOpen(pid: string, open: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((descriptor) => open.has(linkOf(`${folder}/${descriptor}`)));
  } catch {
    // The process has ended, or belongs to another user.
    return false;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** The process to stop: one that has started itself again, as workers are, is named by the first of its kind. */
function firstOf(pid: string): string {
  for (let one = pid; ; ) {
    const parent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${one}/status`, "latin1"))?.[1] ?? "0";
    if (Number(parent) <= 1 || commandOf(parent) === "" || !commandOf(one).startsWith(commandOf(parent))) return one;
    one = parent;
  }
}

function commandOf(pid: string): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
}

/** Cut off, since arguments may be long, and without what a terminal would interpret. */
function shown(pid: string): string {
  const words = commandOf(pid)
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .slice(0, MAX_COMMAND_CHARACTERS);
  return `process ${pid}${words === "" ? "" : ` (${words})`}`;
}
