/** One way to take from the gateway what was not paid for or not allowed, played as whoever holds a key, or none, would play it. */
export interface Cheat {
  /** What it breaks: a hazard, such as `H26`, or a decision. */
  id: string;
  tries: string;
  run(): Promise<Outcome>;
}

/** What came of it. */
export interface Outcome {
  /** What the cheat got: a status, or what it saw. */
  got: string;
  /** By the books of the upstream, in nano-dollars; absent where nothing can be billed. */
  upstream?: number;
  /** By the gateway's ledger. */
  ledger?: number;
  /** Bytes, milliseconds and the like that were measured. */
  figures?: string;
  /** Why it is broken whatever the sums say. */
  broken?: string;
}

/** Cheats that share what they are played against. */
export interface CheatGroup {
  cheats: readonly Cheat[];
  /** They may run at the same time: nothing that one does is seen in another's figures. */
  atOnce?: boolean;
  close(): Promise<void>;
}

export type OpenGroup = () => Promise<CheatGroup>;

/** Undefined where the gateway held. */
export function whyBroken({ upstream = 0, ledger = 0, broken }: Outcome): string | undefined {
  if (broken !== undefined) return broken;
  return ledger < upstream ? `the ledger has ${usd(upstream - ledger)} less than the upstream bills` : undefined;
}

export const usd = (nanoUsd: number): string => `$${(nanoUsd / 1e9).toFixed(6)}`;
