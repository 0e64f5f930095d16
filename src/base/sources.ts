import type { Clock } from "./clock.ts";

/** The source of everything that must not be guessed. Each member can be taken off and called alone. */
export interface Random {
  readonly bytes: (length: number) => Uint8Array;
  /** 22 characters of base64url. */
  readonly id: () => string;
}

/** What a program cannot work out by itself: it is handed down from the program's start (`system`), or from a test. */
export interface Sources {
  readonly clock: Clock;
  readonly random: Random;
}
