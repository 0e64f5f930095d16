import type { Clock } from "./clock.ts";

/** The source of unguessable values. Members do not depend on `this`. */
export interface Random {
  readonly bytes: (length: number) => Uint8Array;
  /** 22 characters of base64url. */
  readonly id: () => string;
}

/** Time and randomness, injected by the program's start (`system`) or by a test. */
export interface Sources {
  readonly clock: Clock;
  readonly random: Random;
}
