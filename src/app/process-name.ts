import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

const BOOT_FILE = "/proc/sys/kernel/random/boot_id";
const NAMESPACE_LINK = "/proc/self/ns/pid";

/** Distinguishes this process from an earlier one with the same id. */
const RUN = randomUUID();

/**
 * A unique name: the boot of the machine, the namespace in which process ids are unique (each container has its own), the id,
 * and a random part. Host names are not enough: containers on the host's network share one, and in each of them the gateway is
 * process 1. "" if the system does not provide this.
 */
export function processName(): string {
  const ids = namespaceOfIds();
  return ids === undefined ? "" : `${ids} ${process.pid} ${RUN}`;
}

/** Whether the process of this name is certain to have ended. False if nothing is known about it here. No clock is involved, because clocks are set (H30). */
export function hasEnded(name: string): boolean {
  const [, ids, pid, run] = /^(.+) (\d+) (\S+)$/.exec(name) ?? [];
  if (ids === undefined || ids !== namespaceOfIds()) return false;
  if (Number(pid) === process.pid) return run !== RUN;
  return isGone(Number(pid));
}

/** Whether there is certainly no process with this id here, or one that has ended and whose parent has not noticed. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return isZombie(pid);
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH";
  }
}

/** In a container, the first process may take seconds to notice that one that it has inherited has ended. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}

/** Whether a process of this name runs here, as far as that can be known. */
export function runsHere(name: string): boolean {
  const ids = namespaceOfIds();
  return ids !== undefined && name.startsWith(`${ids} `) && !hasEnded(name);
}

function namespaceOfIds(): string | undefined {
  try {
    return `${readFileSync(BOOT_FILE, "latin1").trim()} ${readlinkSync(NAMESPACE_LINK)}`;
  } catch {
    return undefined;
  }
}
