import { BodyCapture, type CaptureMemory } from "./body-capture.ts";

type Redact = (text: string) => string;

/** The request to a provider and its response, in one attempt. */
export class AttemptCapture {
  readonly request: BodyCapture;
  readonly answer: BodyCapture;
  /** Removes the provider's credentials. */
  readonly redact: Redact;

  constructor(memory: CaptureMemory, redact: Redact) {
    this.request = new BodyCapture(memory);
    this.answer = new BodyCapture(memory);
    this.redact = redact;
  }
}

/** The owner of the call. */
export interface CapturedCall {
  receiptId: string;
  project: string;
  keyId: string;
  createdAtMs: number;
}

/** The bodies of one call, while it runs. */
export class CallCapture {
  readonly request: BodyCapture;
  readonly answer: BodyCapture;
  readonly #memory: CaptureMemory;
  readonly #attempts: AttemptCapture[] = [];
  readonly #finished: (capture: CallCapture) => void;
  /** The client's credential. */
  #credential: string | undefined;
  call: CapturedCall | undefined;
  /** The attempt that answered, or the last one. */
  attempt: AttemptCapture | undefined;
  #isAnswered = false;
  #isFinished = false;

  constructor(memory: CaptureMemory, finished: (capture: CallCapture) => void) {
    this.#memory = memory;
    this.request = new BodyCapture(memory);
    this.answer = new BodyCapture(memory);
    this.#finished = finished;
  }

  begin(request: string | Uint8Array, credential: string | undefined): void {
    this.request.set(request);
    this.#credential = credential;
  }

  attemptBegins(redact: Redact): AttemptCapture {
    const attempt = new AttemptCapture(this.#memory, redact);
    this.#attempts.push(attempt);
    return attempt;
  }

  /** The call is settled: only the end of its response may still arrive. */
  settle(call: CapturedCall, attempt: AttemptCapture | undefined): void {
    this.call = call;
    this.attempt = attempt ?? this.#attempts.at(-1);
    this.#finishIfComplete();
  }

  /** The whole response, or the end of a streamed one. */
  answered(whole?: string | Uint8Array): void {
    if (this.#isAnswered) return;
    if (whole !== undefined) this.answer.set(whole);
    this.#isAnswered = true;
    this.#finishIfComplete();
  }

  #finishIfComplete(): void {
    if (!this.#isAnswered || this.call === undefined || this.#isFinished) return;
    this.#isFinished = true;
    this.#finished(this);
  }

  /** The client's own credential may be in any of the bodies. */
  redact(text: string): string {
    const credential = this.#credential ?? "";
    const own = credential.length < 8 ? text : text.replaceAll(credential, "[secret]");
    return this.attempt?.redact(own) ?? own;
  }

  drop(): void {
    this.request.drop();
    this.answer.drop();
    for (const { request, answer } of this.#attempts) {
      request.drop();
      answer.drop();
    }
  }
}
