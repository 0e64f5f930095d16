import type { Clock } from "../../base/clock.ts";
import type { ChangedPlace } from "../../storage/changes.ts";

/** A worker that others wait for. */
export interface Member {
  /** For the log and for operators. */
  readonly name: string;
  /** Tells it to catch up, and to answer with this number. */
  ask(number: number, place: ChangedPlace): void;
  /** It does not answer: it is ended, so that nobody is answered what does not hold there. */
  end(): void;
}

interface CatchUpsOptions {
  clock: Clock;
  onSlow: (name: string) => void;
  onSilent: (name: string) => void;
}

interface Round {
  readonly waiting: Set<Member>;
  readonly failed: string[];
  readonly finish: (failed: readonly string[]) => void;
}

/** After this time without an answer, a worker is named in the log. */
const SLOW_MS = 250;
/** A worker that has not answered by then, not even that it cannot read, is ended. Guards search a long text for some seconds. */
const SILENT_MS = 15_000;

/** In the first process: what one worker has changed holds in all of them before the change is answered (choices 9). */
export class CatchUps {
  readonly #options: CatchUpsOptions;
  readonly #members = new Set<Member>();
  readonly #rounds = new Map<number, Round>();
  #number = 0;

  constructor(options: CatchUpsOptions) {
    this.#options = options;
  }

  /** From now on changes wait for it. */
  join(member: Member): void {
    this.#members.add(member);
  }

  /** It has ended. */
  leave(member: Member): void {
    this.#members.delete(member);
    for (const number of this.#rounds.keys()) this.answered(member, number, true);
  }

  /** Resolves when all others have caught up or ended, with those that could not read the storage. */
  async run(asker: Member, place: ChangedPlace): Promise<readonly string[]> {
    const waiting = new Set(this.#members);
    waiting.delete(asker);
    if (waiting.size === 0) return [];
    const { clock, onSlow, onSilent } = this.#options;
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    const number = ++this.#number;
    this.#rounds.set(number, { waiting, failed: [], finish: resolve });
    const cancels = [
      clock.after(SLOW_MS, () => {
        for (const { name } of waiting) onSlow(name);
      }),
      clock.after(SILENT_MS, () => {
        for (const member of waiting) {
          onSilent(member.name);
          member.end();
        }
      }),
    ];
    for (const member of waiting) member.ask(number, place);
    const failed = await promise;
    for (const cancel of cancels) cancel();
    this.#rounds.delete(number);
    return failed;
  }

  answered(member: Member, number: number, hasCaughtUp: boolean): void {
    const round = this.#rounds.get(number);
    if (round === undefined || !round.waiting.delete(member)) return;
    if (!hasCaughtUp) round.failed.push(member.name);
    if (round.waiting.size === 0) round.finish(round.failed);
  }
}
