import type { AttemptCapture, CallCapture } from "../../capture/call-capture.ts";
import type { Provider } from "../../providers/provider.ts";
import { AwsEventSplitter } from "../../wire/aws-event-stream.ts";
import type { ChunkTaker, HttpAnswer, HttpHeaders } from "../../wire/http/http-exchange.ts";
import type { DirectController } from "../answer/client-output.ts";
import type { Call, IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";

const BINARY_EVENTS = /^application\/vnd\.amazon\.eventstream/i;

const MEDIUM = /^(?:audio|image|video)\/[\w.+-]{1,60}$|^application\/octet-stream$/i;

/** The media type of a body that is not text. */
const mediumOf = (contentType = ""): string | undefined =>
  MEDIUM.exec(contentType.split(";")[0]?.trim() ?? "")?.[0].toLowerCase();

/** Larger files of a form are reduced to type and size. */
const MAX_FILE = 4 * 1024 * 1024;

type FormField =
  | { name: string; value: string }
  | { name: string; mimeType: string; base64: string }
  | { name: string; mimeType: string; bytes: Uint8Array };

/** A form as a JSON object of its fields. Files are reduced to type and size, or are data URLs if `withFiles` is set. */
export function formText(form: readonly FormField[], withFiles = false): string {
  return JSON.stringify(form.map((field) => ({ [field.name]: fieldText(field, withFiles) })));
}

function fieldText(field: FormField, withFiles: boolean): string {
  if ("value" in field) return field.value;
  const size = "bytes" in field ? field.bytes.length : Math.floor((field.base64.length * 3) / 4);
  if (!withFiles || size > MAX_FILE) return `[${field.mimeType}, ${size} bytes]`;
  const base64 = "bytes" in field ? Buffer.from(field.bytes).toString("base64") : field.base64;
  return `data:${field.mimeType};base64,${base64}`;
}

/** In place of a provider's response that a guard may change. */
export const NOT_CAPTURED =
  "Not captured: a guard looks at responses. The response to the client was captured as it was sent.";

/** A provider's response that is copied as it is read. */
export class CapturedAnswer implements HttpAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly #answer: HttpAnswer;
  readonly #capture: Pick<AttemptCapture, "answer">;
  /** Converts binary events to text. */
  readonly #splitter: AwsEventSplitter | undefined;

  constructor(answer: HttpAnswer, capture: Pick<AttemptCapture, "answer">) {
    this.status = answer.status;
    this.headers = answer.headers;
    this.#answer = answer;
    this.#capture = capture;
    const type = answer.headers.get("content-type") ?? "";
    if (BINARY_EVENTS.test(type)) this.#splitter = new AwsEventSplitter();
    capture.answer.mediaType = mediumOf(type);
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
      // The reader of the response meets the same error and reports it.
    }
  }
}

/** A client's output that is copied as it is written. */
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

/** The chunks of a response, copied as they are read. */
export function* capturedChunks(chunks: Iterator<string, unknown>, capture: CallCapture): Generator<string> {
  for (let next = chunks.next(); !next.done; next = chunks.next()) {
    capture.answer.add(next.value);
    yield next.value;
  }
  capture.answered();
}

/** Starts a capture. `sent` is the request as received. */
export function captureOf(
  sent: string,
  { credential }: Pick<IncomingRequest, "credential">,
  { captures }: Pick<Gateway, "captures">,
): CallCapture | undefined {
  const capture = captures.begin();
  capture?.begin(sent, credential);
  return capture;
}

/** An attempt with several requests captures only the first. The others are similar, and concurrent. */
export function firstRequestCapture(
  { capture }: { readonly capture?: CallCapture | undefined },
  attempt: {
    capture: AttemptCapture | undefined;
    readonly target: { readonly provider: Pick<Provider, "withoutSecrets"> };
  },
): AttemptCapture | undefined {
  if (capture === undefined || attempt.capture !== undefined) return undefined;
  attempt.capture = capture.attemptBegins((text) => attempt.target.provider.withoutSecrets(text));
  return attempt.capture;
}

/** The call is settled. Its bodies are stored as soon as its response has ended. */
export function settleCapture(
  capture: CallCapture,
  {
    receiptId,
    principal,
    admission,
    attempt,
  }: Pick<Call, "receiptId" | "principal" | "admission"> & {
    attempt: { capture?: AttemptCapture | undefined } | undefined;
  },
  { captures }: Pick<Gateway, "captures">,
): void {
  const { project, keyId } = principal;
  capture.settle({ receiptId, project, keyId, createdAtMs: admission.atMs }, attempt?.capture);
  captures.settled(capture);
}
