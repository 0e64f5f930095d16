import { availableParallelism } from "node:os";
import { join } from "node:path";
import { dialectsOf, startGateway } from "./gateway.ts";
import { findNginx, startNginx } from "./nginx.ts";
import { hasPeer, isPeer, type PeerName, startPeer } from "./peers.ts";
import { type Child, type Processes, printedUrl } from "./processes.ts";

/**
 * `bare` is the yardstick; `reserialising` is the same proxy, but it parses the request and writes it anew; `limited` is the gateway with
 * limits at every level, `workers` and `limitedWorkers` the same with a process for each processor, `exporting` the one with traces and metrics over OTLP; `before` is the
 * gateway of another checkout, next to which this one is put; the last two are other gateways (`peers.ts`).
 */
export type ContenderName =
  | "bare"
  | "gateway"
  | "before"
  | "limited"
  | "workers"
  | "limitedWorkers"
  | "exporting"
  | "reserialising"
  | "nginx"
  | PeerName;

interface OtherPrograms {
  before?: string | undefined;
  peers?: string | undefined;
}

/** The programs that are compared, each in a separate process in front of the same upstream. */
export class Contenders {
  readonly nginxMissing: boolean;
  readonly #processes: Processes;
  readonly #upstreamUrl: string;
  readonly #folder: string;
  readonly #nginx: string | undefined;
  readonly #before: string | undefined;
  readonly #peers: string | undefined;
  readonly #kept = new Map<ContenderName, Child>();
  #started = 0;

  /** `before` is the root of another checkout, with its dependencies installed; `peers` the folder that other gateways are in. */
  constructor(processes: Processes, upstreamUrl: string, folder: string, { before, peers }: OtherPrograms) {
    this.#processes = processes;
    this.#upstreamUrl = upstreamUrl;
    this.#folder = folder;
    this.#before = before;
    this.#peers = peers;
    this.#nginx = findNginx();
    this.nginxMissing = this.#nginx === undefined;
  }

  /** Those of the names that this machine has; the gateway of another checkout stands next to this one's, where it speaks these protocols. */
  present(names: readonly ContenderName[], dialects: readonly string[] = []): ContenderName[] {
    const known = this.#before === undefined ? undefined : dialectsOf(this.#before);
    const hasBefore = known !== undefined && dialects.every((dialect) => known.includes(dialect));
    return names.flatMap((name): ContenderName[] => {
      if (name === "gateway" && hasBefore) return ["gateway", "before"];
      if (isPeer(name)) return hasPeer(name, this.#peers) ? [name] : [];
      return name !== "nginx" || this.#nginx !== undefined ? [name] : [];
    });
  }

  /** The one that runs through all scenarios, so that its code is warm. */
  async kept(name: ContenderName): Promise<Child> {
    const child = this.#kept.get(name) ?? (await this.fresh(name));
    this.#kept.set(name, child);
    return child;
  }

  /** A new process that nothing has used before. */
  fresh(name: ContenderName): Promise<Child> {
    this.#started += 1;
    const folder = join(this.#folder, `${name}-${this.#started}`);
    if (isPeer(name)) return startPeer(this.#processes, name, this.#peers ?? "", folder, this.#upstreamUrl);
    if (name === "exporting") return this.#startExporting(folder);
    const form = this.#formOf(name);
    if (form !== undefined) return startGateway(this.#processes, folder, this.#upstreamUrl, form);
    if (name === "nginx") return startNginx(this.#processes, this.#nginx ?? name, folder, this.#upstreamUrl);
    const program = new URL("bare-proxy.ts", import.meta.url).pathname;
    const mode = name === "bare" ? "pass" : "reserialise";
    return this.#processes.start({
      name: `the ${name} proxy`,
      command: [process.execPath, program, this.#upstreamUrl, mode],
      findUrl: printedUrl,
    });
  }

  #formOf(name: ContenderName) {
    const workers = Math.max(2, availableParallelism());
    if (name === "gateway") return {};
    if (name === "limited") return { isLimited: true };
    if (name === "workers") return { workers };
    if (name === "limitedWorkers") return { isLimited: true, workers };
    if (name === "before") return { root: this.#before ?? "" };
    return undefined;
  }

  async #startExporting(folder: string): Promise<Child> {
    const program = new URL("collector.ts", import.meta.url).pathname;
    const collector = await this.#processes.start({
      name: "the collector",
      command: [process.execPath, program],
      findUrl: printedUrl,
    });
    return startGateway(this.#processes, folder, this.#upstreamUrl, { collectorUrl: collector.url });
  }
}
