import { hostname } from "node:os";
import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../canon/error.ts";
import type { Storage } from "../storage/storage.ts";
import {
  countDown,
  deleteInstance,
  type Instance,
  type RegisteredInstance,
  selectInstances,
} from "../storage/tables/instances.ts";
import { hasEnded, isGone, runsHere } from "./process-name.ts";

const LOOKS_PER_BEAT = 10;
/**
 * A gateway counts as dead when its beat count has not changed for this many looks, which take one and a half beats. Looks are
 * counted, not time: on a busy machine both may be stopped until the time is over.
 */
const LOOKS = 15;

/** How long a start waits for workers whose first process was killed, which end within a second. */
const ENDING_LOOKS = 60;
const ENDING_LOOK_MS = 50;

/** Host and process, for people. `main`: the process that ends the gateway if it is stopped, and all of its workers with it. */
export function placeOf(pid: number, main = pid): string {
  return `${hostname()}, process ${main}${main === pid ? "" : WORKER + pid}`;
}
const WORKER = ", worker ";
/** The process to stop: the worker itself if its first process is gone. */
const toStop = (other: Instance): string =>
  isEnding(other) ? other.place.replace(/process \d+, worker/, "process") : (other.place.split(WORKER)[0] ?? "");

/** A worker whose first process was killed ends within a second. */
function isEnding({ place, process }: Instance): boolean {
  const main = Number(/, process (\d+), worker \d+$/.exec(place)?.[1]);
  return Number.isInteger(main) && runsHere(process) && isGone(main);
}

/** Whether two gateways share their limits. */
export const sharesLimits = (shares: string, others: string): boolean => shares !== "" && shares === others;

/** Without a shared place, a file that was uploaded to one of them is missing at the other. */
const sharesFiles = (files: string | undefined, others: string | undefined): boolean =>
  files === undefined || others === undefined || files === others;

type Sharing = Pick<Instance, "shares" | "files">;

/** Whether two gateways may use one storage. */
const mayJoin = (one: Sharing, other: Sharing): boolean =>
  sharesLimits(one.shares, other.shares) && sharesFiles(one.files, other.files);

interface CheckOptions {
  storage: Storage;
  self: RegisteredInstance;
  clock: Clock;
  everyMs: number;
}

export interface Joined {
  /** No other gateway runs. */
  isFirst: boolean;
  /** Gateways that have died. */
  dead: readonly string[];
}

/**
 * Refuses to start while a gateway that shares no limits or no files with this one is running (choices 9). A row does not prove that its
 * gateway is alive: if it may have been killed, its beat count is watched for a while. A gateway that shares limits with this
 * one is reported dead only if that is certain, because its share is given to others at once.
 */
export async function checkOthers({ storage, self, clock, everyMs }: CheckOptions): Promise<Joined> {
  const found = await othersOf(storage, self);
  for (let look = 0; look < ENDING_LOOKS && found.some(isEnding); look++) await clock.sleep(ENDING_LOOK_MS);
  const dead = found.filter(({ process }) => hasEnded(process)).map(({ id }) => id);
  const before = new Map(found.filter(({ id }) => !dead.includes(id)).map((other) => [other.id, other]));
  const strangers = [...before.values()].filter((other) => !mayJoin(self, other));
  const alive = new Set<string>();
  for (let look = 0; strangers.length > 0 && look < LOOKS; look++) {
    await clock.sleep(everyMs / LOOKS_PER_BEAT);
    await countDown(storage, self.id);
    for (const other of await othersOf(storage, self)) {
      const known = before.get(other.id);
      if (known === undefined || known.beats === other.beats) continue;
      alive.add(other.id);
      if (!mayJoin(self, other) && isInTheWay(known, self)) throw refusal(other, self);
    }
  }
  const peers = [...before.values()].filter(({ shares }) => sharesLimits(self.shares, shares));
  for (const other of strangers) if (!alive.has(other.id) && !peers.includes(other)) dead.push(other.id);
  for (const id of dead) await deleteInstance(storage, id);
  return { isFirst: peers.length === 0, dead };
}

const othersOf = async (storage: Storage, self: { id: string }): Promise<Instance[]> =>
  (await selectInstances(storage)).filter(({ id }) => id !== self.id);

/** If two start at the same time, the one with the lower id continues. */
const isInTheWay = ({ id, beats }: Instance, self: { id: string }): boolean => beats > 0 || id < self.id;

function refusal(other: Instance, self: Sharing): GatewayError {
  const { startedAtMs, shares, files } = other;
  const since = new Date(startedAtMs).toISOString();
  if (sharesLimits(self.shares, shares)) {
    return new GatewayError(
      "invalid_request",
      `A gateway on this database keeps its files elsewhere: ${toStop(other)}, started ${since}, uses ${files}, and this one ${self.files}. ` +
        "What clients upload to one would be missing at the other. Set `files` of all gateways to the same bucket, or to one folder on a disk that they share.",
    );
  }
  const alone = shares === "" && self.shares === "";
  const several = alone ? ". To use several processes on one machine, set `server.workers`" : "";
  return new GatewayError(
    "invalid_request",
    `A gateway is already running on this database: ${toStop(other)}, started ${since}. Stop it first, or set a different \`data_dir\` or \`storage\` for this one. ` +
      `To run several gateways on one database, set \`redis\` to the same server for all of them, so that they share limits and budgets${several}.`,
  );
}
