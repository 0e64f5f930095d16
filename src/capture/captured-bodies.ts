import type { BodyCapture } from "./body-capture.ts";
import type { CallCapture } from "./call-capture.ts";
import { redactBody } from "./redact-body.ts";

/** One body as it is kept. */
export interface CapturedBody {
  text: string;
  /** Of the body itself, before anything was replaced or cut. */
  bytes: number;
  /** The end of it is missing. */
  cut: boolean;
}

/** `null`: there was none. */
export interface CapturedBodies {
  client_request: CapturedBody | null;
  provider_request: CapturedBody | null;
  provider_answer: CapturedBody | null;
  client_answer: CapturedBody | null;
}

/** What is kept of a call's bodies: redacted and cut. */
export function capturedBodies(capture: CallCapture, maxLength: number): CapturedBodies {
  const { request, answer, attempt } = capture;
  const kept = (body: BodyCapture | undefined): CapturedBody | null => {
    const text = body?.text;
    if (body === undefined || text === undefined) return null;
    const redacted = redactBody(capture.redact(text), maxLength);
    return { text: redacted.text, bytes: body.bytes, cut: redacted.cut || body.isCut };
  };
  return {
    client_request: kept(request),
    provider_request: kept(attempt?.request),
    provider_answer: kept(attempt?.answer),
    client_answer: kept(answer),
  };
}
