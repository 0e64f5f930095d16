import type { Config } from "./config.ts";
import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";

const BYTES_PER_MEGABYTE = 1024 * 1024;

/** The largest allowed body must fit into the memory for calls, of which one key may hold half. */
export function checkMemory({ server }: Pick<Config, "server">, root: MapNode, report: Report): void {
  if (server.memoryBytes >= 2 * server.maxBodyBytes) return;
  const largest = server.maxBodyBytes / BYTES_PER_MEGABYTE;
  report(
    positionAt(root, ["server", "memory_mb"]),
    `server.memory_mb must be at least twice server.max_body_mb, which is ${largest}; one key may hold half of it`,
  );
}
