import type { AttemptCapture, CallCapture } from "../capture/call-capture.ts";
import { AwsEventSplitter } from "../wire/aws-event-stream.ts";
import type { AnswerHeaders, ChunkTaker, HttpAnswer } from "../wire/http/exchange.ts";
import type { Call, IncomingRequest } from "./call.ts";
import type { DirectController } from "./client-output.ts";
import type { Gateway } from "./gateway.ts";

const BINARY_EVENTS = /^application\/vnd\.amazon\.eventstream/i;

/** A provider's answer, of which a copy is kept as it is read. */
export class CapturedAnswer implements HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly #answer: HttpAnswer;
  readonly #capture: AttemptCapture;
  /** Makes text of binary events. */
  readonly #splitter: AwsEventSplitter | undefined;

  constructor(answer: HttpAnswer, capture: AttemptCapture) {
    this.status = answer.status;
    this.headers = answer.headers;
    this.#answer = answer;
    this.#capture = capture;
    if (BINARY_EVENTS.test(answer.headers.get("content-type") ?? "")) this.#splitter = new AwsEventSplitter();
  }

  async read(): Promise<Uint8Array | undefined> {
    const chunk = await this.#answer.read();
    if (chunk !== undefined) this.#copy(chunk);
    return chunk;
  }

  readWhile(taker: ChunkTaker): boolean | Promise<boolean> {
    return this.#answer.readWhile({
      take: (chunk) => {
        this.#copy(chunk);
        return taker.take(chunk);
      },
    });
  }

  #copy(chunk: Uint8Array): void {
    const { answer } = this.#capture;
    if (this.#splitter === undefined) {
      answer.add(chunk);
      return;
    }
    try {
      answer.add(this.#splitter.push(chunk));
    } catch {
      // Whoever reads the answer meets the same, and says so.
    }
  }
}

/** The way to a client, of which a copy is kept. */
export const capturedController = (controller: DirectController, capture: CallCapture): DirectController => ({
  write: (part) => {
    capture.answer.add(part);
    return controller.write(part);
  },
  flush: (wait) => controller.flush(wait),
  close: () => {
    controller.close();
    capture.answered();
  },
});

/** The chunks of an answer, of which a copy is kept. */
export function* capturedChunks(chunks: Iterator<string, unknown>, capture: CallCapture): Generator<string> {
  for (let next = chunks.next(); !next.done; next = chunks.next()) {
    capture.answer.add(next.value);
    yield next.value;
  }
  capture.answered();
}

/** Where the key has bodies kept. `sent`: the request as it came. */
export function captureOf(
  sent: string,
  { credential }: Pick<IncomingRequest, "credential">,
  { captures }: Pick<Gateway, "captures">,
): CallCapture | undefined {
  const capture = captures.begin();
  capture?.begin(sent, credential);
  return capture;
}

/** The call is settled: what is known of its bodies is kept as soon as its answer has ended. */
export function settleCapture(
  capture: CallCapture,
  { receiptId, principal, admission, attempt }: Pick<Call, "receiptId" | "principal" | "admission" | "attempt">,
  { captures }: Pick<Gateway, "captures">,
): void {
  const { project, keyId } = principal;
  capture.settle({ receiptId, project, keyId, createdAtMs: admission.atMs }, attempt?.capture);
  captures.settled(capture);
}
