import type { GuardOn } from "../canon/guard/guard-verdict.ts";

/** A text as a guard outside of the gateway sees it. */
export interface HookText {
  readonly path: string;
  readonly text: string;
}

export interface HookQuestion {
  readonly guard: string;
  readonly on: GuardOn;
  readonly texts: readonly HookText[];
}

export interface HookAnswer {
  /** `unreadable`: it takes no such text. */
  readonly verdict: "allow" | "block" | "replace" | "unreadable";
  readonly reason?: string | undefined;
  /** The texts in the question that it is about; absent if that is not known. */
  readonly places?: readonly number[];
  /** New texts by the places of the texts in the question. */
  readonly replacements?: ReadonlyMap<number, string>;
}

/** Something that is asked about texts. Rejects with a HookError if there is no valid answer. */
export type TextHook = (question: HookQuestion, asker: unknown) => Promise<HookAnswer>;

/** Why there is no answer, in words for the receipt. */
export class HookError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "HookError";
  }
}
