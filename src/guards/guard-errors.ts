/** A guard does not let a text through. */
export class GuardBlockedError extends Error {
  readonly guard: string;

  constructor(guard: string, reason: string) {
    super(reason);
    this.name = "GuardBlockedError";
    this.guard = guard;
  }
}

/** A guard could not decide, and nothing may pass without it. */
export class GuardFailedError extends Error {
  readonly guard: string;

  constructor(guard: string, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "GuardFailedError";
    this.guard = guard;
  }
}
