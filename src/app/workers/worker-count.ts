import { availableParallelism, totalmem } from "node:os";
import type { Config, ProviderSettings } from "../../config/config.ts";

/** What this process may use of the machine. */
export interface Machine {
  platform: NodeJS.Platform;
  /** Of its processors and its share of their time, as a container may limit both. */
  processors: number;
  memoryBytes: number;
}

interface WorkerCount {
  count: number;
  /** For the log. */
  reason: string;
}

const MEGABYTE = 1024 * 1024;

/** A worker without its bodies, and its part of what the first process uses. */
const WORKER_BYTES = 128 * MEGABYTE;
/** Only one process writes to SQLite at a time: a worker under load commits 200 times a second, for half a millisecond each. */
const MOST_ON_SQLITE = 4;
/** Up to here one process is faster and smaller: each call costs less, and nothing is shared between processes (decision 0141). */
const ONE_UP_TO = 2;
/** Each has connections of its own to PostgreSQL, which accepts a hundred by default. */
const MOST = 16;

/** The runtime rounds a quota of processor time down: a part of a processor is left for its compiler and collector. */
export const thisMachine = (): Machine => ({
  platform: process.platform,
  processors: availableParallelism(),
  memoryBytes: Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
});

/**
 * How many processes serve calls. `auto` is one up to and including two processors, and one for each of more, unless the gateway would do
 * something else than one process: more calls at a provider than `max_concurrent`, or more memory than there is (decisions 0135, 0141).
 */
export function workerCount(config: Config, providers: readonly ProviderSettings[], machine: Machine): WorkerCount {
  const { workers } = config.server;
  if (workers !== "auto") return { count: workers, reason: "as configured" };
  const obstacle = obstacleOf(config, providers, machine);
  if (obstacle !== undefined) return { count: 1, reason: obstacle };

  const { processors, memoryBytes } = machine;
  if (processors <= ONE_UP_TO) {
    return { count: 1, reason: processors === 1 ? "one processor" : "one process is faster up to two processors" };
  }
  const each = config.server.memoryBytes + WORKER_BYTES;
  const fitting = Math.max(1, Math.floor(memoryBytes / each));
  const most = config.storage.startsWith("sqlite:") ? MOST_ON_SQLITE : MOST;
  const count = Math.min(processors, fitting, most);
  if (count === processors) return { count, reason: "one for each processor" };
  if (count === most) return { count, reason: `${processors} processors; set server.workers for more` };
  const megabytes = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`;
  const memory = `${megabytes(memoryBytes)} of memory, and each may need ${megabytes(each)}`;
  return { count, reason: `${processors} processors, but ${memory} (server.memory_mb)` };
}

/** Why several processes would not do the same as one; undefined if they would. */
function obstacleOf(config: Config, providers: readonly ProviderSettings[], machine: Machine): string | undefined {
  // Elsewhere all connections to a shared port go to one process.
  if (machine.platform !== "linux") return "only Linux distributes connections";
  if (config.storage === "sqlite::memory:") return "the database is in memory";
  if (providers.length === 0) return "no provider is configured besides the simulator";
  if (config.routing.maxConcurrent !== undefined) return "routing.max_concurrent applies to each process";
  const limited = providers.find(({ maxConcurrent }) => maxConcurrent !== undefined);
  if (limited !== undefined) return `max_concurrent of the provider ${limited.name} applies to each process`;
  return undefined;
}
