import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTENING = "0A";
const MAX_COMMAND_CHARACTERS = 80;

/**
 * The process that listens on a port, such as `process 4711 (node server.js)`. Undefined where the system does not say: outside
 * Linux, and for processes of other users unless this one is root's.
 */
export function portOwner(port: number): string | undefined {
  try {
    const sockets = listeningSockets(port);
    if (sockets.size === 0) return undefined;
    const pid = readdirSync("/proc").find((name) => /^\d+$/.test(name) && holdsAny(name, sockets));
    return pid === undefined ? undefined : `process ${pid}${commandOf(pid)}`;
  } catch {
    return undefined;
  }
}

/** The links that a process has to the sockets listening on a port, whatever their address. */
function listeningSockets(port: number): ReadonlySet<string> {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/net/${table}`, "latin1").split("\n").slice(1));
  const found = new Set<string>();
  for (const row of rows) {
    const [, local = "", , state, , , , , , inode] = row.trim().split(/\s+/);
    if (state === LISTENING && local.endsWith(`:${hex}`)) found.add(`socket:[${inode}]`);
  }
  return found;
}

function holdsAny(pid: string, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((descriptor) => sockets.has(linkOf(`${folder}/${descriptor}`)));
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

/** Cut off, since arguments may be long, and without what a terminal would interpret. */
function commandOf(pid: string): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  const shown = words.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, MAX_COMMAND_CHARACTERS);
  return shown === "" ? "" : ` (${shown})`;
}
