import type { BodyCapture } from "./body-capture.ts";
import type { CallCapture } from "./call-capture.ts";
import { KeptMedia, type KeptMedium } from "./kept-media.ts";
import { redactBody } from "./redact-body.ts";

/** A stored body. */
export interface CapturedBody {
  text: string;
  /** The size of the body before anything was replaced or cut. */
  bytes: number;
  /** Its end is missing. */
  cut: boolean;
}

/** `null`: there was none. */
export interface CapturedBodies {
  client_request: CapturedBody | null;
  provider_request: CapturedBody | null;
  provider_answer: CapturedBody | null;
  client_answer: CapturedBody | null;
  /** Its images and audio, by their numbers in the texts; empty unless the configuration enables them. */
  media?: KeptMedium[];
}

/** The stored form of a call's bodies: redacted and cut. */
export function capturedBodies(capture: CallCapture, maxLength: number, maxMediaBytes: number): CapturedBodies {
  const media = new KeptMedia(maxMediaBytes);
  const { request, answer, attempt } = capture;
  const kept = (body: BodyCapture | undefined): CapturedBody | null => {
    const text = body?.text;
    if (body === undefined || text === undefined) return null;
    const redacted = redactBody(capture.redact(text), maxLength, media);
    return { text: redacted.text, bytes: body.bytes, cut: redacted.cut || body.isCut };
  };
  const bodies = {
    client_request: kept(request),
    provider_request: kept(attempt?.request),
    provider_answer: kept(attempt?.answer),
    client_answer: kept(answer),
  };
  return media.list.length === 0 ? bodies : { ...bodies, media: media.list };
}
