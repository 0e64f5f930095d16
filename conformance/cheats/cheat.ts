/**
 * One way to take from the gateway what was not paid for or not allowed, as someone with a key, or without one, would
 * try it.
 */
export interface Cheat {
  /** What it would break: a hazard, such as `H26`, or a decision. */
  id: string;
  tries: string;
  run(): Promise<Outcome>;
}

/** Its result. */
export interface Outcome {
  /** What the cheat got: a status, or what it saw. */
  got: string;
  /** By the upstream's accounts, in nano-dollars; absent if nothing can be billed. */
  upstream?: number;
  /** By the gateway's ledger. */
  ledger?: number;
  /** Bytes, milliseconds and the like that were measured. */
  figures?: string;
  /** Why it counts as broken whatever the amounts. */
  broken?: string;
}

/** Cheats that share a setup. */
export interface CheatGroup {
  cheats: readonly Cheat[];
  /** They may run at the same time: nothing that one does is seen in another's figures. */
  atOnce?: boolean;
  close(): Promise<void>;
}

export type OpenGroup = () => Promise<CheatGroup>;

/** Undefined if the gateway held. */
export function whyBroken({ upstream = 0, ledger = 0, broken }: Outcome): string | undefined {
  if (broken !== undefined) return broken;
  return ledger < upstream ? `the ledger has ${usd(upstream - ledger)} less than the upstream bills` : undefined;
}

export const usd = (nanoUsd: number): string => `$${(nanoUsd / 1e9).toFixed(6)}`;
