import { readFileSync } from "node:fs";
import { processUsing } from "../base/process-using.ts";

const LISTENING = "0A";

/** The process that listens on a port, where the system says so. */
export function portOwner(port: number): string | undefined {
  try {
    const sockets = listeningSockets(port);
    return sockets.size === 0 ? undefined : processUsing(sockets, true);
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
