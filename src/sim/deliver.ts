import type { Step } from "./play.ts";
import type { Fault } from "./traits.ts";
import type { Frame, Rendered } from "./wire.ts";

/** A stall ends by itself after this time, should the caller never leave. */
const LONGEST_STALL_MS = 600_000;
/** What was sent must have been read before the connection is dropped, or the reset would swallow it. */
const BEFORE_CUT_MS = 40;

const encoder = new TextEncoder();

function send(text: string): Step {
  return { send: encoder.encode(text) };
}

function* cut(): Generator<Step> {
  yield { wait: BEFORE_CUT_MS };
  yield { cut: true };
}

function* drip(bytes: Uint8Array): Generator<Step> {
  for (let at = 0; at < bytes.length; at += 1) {
    yield { send: bytes.subarray(at, at + 1) };
    yield { wait: 0 };
  }
}

/** The first byte travels with the headers, because the server sends no headers without a body. */
function* silent(bytes: Uint8Array, seconds: number): Generator<Step> {
  yield { send: bytes.subarray(0, 1) };
  yield { wait: seconds * 1_000 };
  yield { send: bytes.subarray(1) };
}

/** The frame after which things go wrong: half of the content has been sent, and half has not. */
function middle(frames: readonly Frame[]): number {
  const contentAt = frames.flatMap((frame, at) => (frame.content ? [at] : []));
  return contentAt[Math.floor(contentAt.length / 2)] ?? Math.floor(frames.length / 2);
}

function* paced(frames: readonly Frame[], paceMs: (frame: Frame) => number): Generator<Step> {
  for (const frame of frames) {
    const wait = frame.content ? paceMs(frame) : 0;
    if (wait > 0) yield { wait };
    yield send(frame.text);
  }
}

/** What happens at the middle of a stream, instead of the frame that stands there and, mostly, of all that follow. */
function* atMiddle(fault: Fault, rendered: Rendered, frame: Frame, rest: Generator<Step>): Generator<Step> {
  switch (fault.kind) {
    case "stall":
      yield { wait: LONGEST_STALL_MS };
      return yield* cut();
    case "cut-mid-event":
      yield send(frame.text.slice(0, Math.floor(frame.text.length / 2)));
      return yield* cut();
    case "cut-mid-stream":
      return yield* cut();
    case "close-mid-stream":
      return;
    case "error-in-stream":
      return yield send(rendered.errorFrame(false));
    case "garbage-in-stream":
      yield send(rendered.garbageFrame);
      return yield* rest;
    default:
      return yield* rest;
  }
}

/** The body of a streamed answer, with the fault in its place. */
export function* streamSteps(
  rendered: Rendered,
  fault: Fault | undefined,
  paceMs: (frame: Frame) => number,
): Generator<Step> {
  const frames = rendered.frames();
  const everything = (): Uint8Array => encoder.encode(frames.map((frame) => frame.text).join(""));
  if (fault === undefined) return yield* paced(frames, paceMs);
  switch (fault.kind) {
    case "cut-before-first":
      return yield { cut: true };
    case "error-first-event":
      return yield send(rendered.errorFrame(true));
    case "drip":
      return yield* drip(everything());
    case "silent":
      yield* silent(encoder.encode(frames[0]?.text ?? ""), fault.seconds);
      return yield* paced(frames.slice(1), paceMs);
    case "crlf": {
      const changed = frames.map((frame) => ({ ...frame, text: frame.text.replace(/\r?\n/g, "\r\n") }));
      return yield* paced(changed, paceMs);
    }
    default: {
      const at = middle(frames);
      yield* paced(frames.slice(0, at), paceMs);
      const frame = frames[at];
      if (frame !== undefined) yield* atMiddle(fault, rendered, frame, paced(frames.slice(at), paceMs));
    }
  }
}

/** The body of an unstreamed answer. A fault between events is a fault inside the one body that there is. */
export function* wholeSteps(whole: string, fault: Fault, errorBody: string): Generator<Step> {
  const bytes = encoder.encode(whole);
  const half = bytes.subarray(0, Math.floor(bytes.length / 2));
  switch (fault.kind) {
    case "cut-before-first":
      return yield { cut: true };
    case "cut-mid-event":
    case "cut-mid-stream":
      yield { send: half };
      return yield* cut();
    case "close-mid-stream":
    case "garbage-in-stream":
      return yield { send: half };
    case "stall":
      yield { send: half };
      yield { wait: LONGEST_STALL_MS };
      return yield* cut();
    case "error-first-event":
      return yield send(errorBody);
    case "drip":
      return yield* drip(bytes);
    case "silent":
      return yield* silent(bytes, fault.seconds);
    case "crlf":
      return yield send(whole.replace(/\r?\n/g, "\r\n"));
    default:
      return yield { send: bytes };
  }
}
