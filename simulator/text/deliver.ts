import type { Step } from "../play.ts";
import type { Frame, Rendered } from "./adapter.ts";
import type { Fault } from "./traits.ts";

/** A stall ends after this time if the client never disconnects. */
const MAX_STALL_MS = 600_000;
/** What was sent must have been read before the connection is dropped, or the reset would swallow it. */
const BEFORE_CUT_MS = 40;

/** The end of a binary frame that travels with the next one. */
const HELD_BYTES = 7;

const encoder = new TextEncoder();

function send(text: string, binary?: true): Step {
  return { send: binary ? new Uint8Array(Buffer.from(text, "latin1")) : encoder.encode(text) };
}

function bytesOf(frames: readonly Frame[], binary: true | undefined): Uint8Array {
  const step = send(frames.map((frame) => frame.text).join(""), binary);
  return "send" in step ? step.send : new Uint8Array();
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

function* paced(frames: readonly Frame[], paceMs: (frame: Frame) => number, binary?: true): Generator<Step> {
  let held = "";
  for (const frame of frames) {
    const wait = frame.content ? paceMs(frame) : 0;
    if (wait > 0) yield { wait };
    const text = held + frame.text;
    const end = binary ? text.length - HELD_BYTES : text.length;
    yield send(text.slice(0, end), binary);
    held = text.slice(end);
  }
  if (held !== "") yield send(held, binary);
}

/** What happens at the middle of a stream, instead of the frame that stands there and, mostly, of all that follow. */
function* atMiddle(fault: Fault, rendered: Rendered, frame: Frame, rest: Generator<Step>): Generator<Step> {
  switch (fault.kind) {
    case "stall":
      yield { wait: MAX_STALL_MS };
      return yield* cut();
    case "cut-mid-event":
      yield send(frame.text.slice(0, Math.floor(frame.text.length / 2)), rendered.binary);
      return yield* cut();
    case "cut-mid-stream":
      return yield* cut();
    case "close-mid-stream":
      return;
    case "error-in-stream":
      return yield send(rendered.errorFrame(false), rendered.binary);
    case "garbage-in-stream":
      yield send(rendered.garbageFrame, rendered.binary);
      return yield* rest;
    default:
      return yield* rest;
  }
}

/** The body of a streamed answer, with the fault where it belongs. */
export function* streamSteps(
  rendered: Rendered,
  fault: Fault | undefined,
  paceMs: (frame: Frame) => number,
): Generator<Step> {
  const frames = rendered.frames();
  const { binary } = rendered;
  if (fault === undefined) return yield* paced(frames, paceMs, binary);
  switch (fault.kind) {
    case "cut-before-first":
      return yield { cut: true };
    case "error-first-event":
      return yield send(rendered.errorFrame(true), binary);
    case "drip":
      return yield* drip(bytesOf(frames, binary));
    case "silent":
      yield* silent(bytesOf(frames.slice(0, 1), binary), fault.seconds);
      return yield* paced(frames.slice(1), paceMs, binary);
    case "crlf": {
      // Binary frames have no lines.
      const changed = frames.map((frame) => ({ ...frame, text: frame.text.replace(/\r?\n/g, "\r\n") }));
      return yield* paced(binary ? frames : changed, paceMs, binary);
    }
    default: {
      const at = middle(frames);
      yield* paced(frames.slice(0, at), paceMs, binary);
      const frame = frames[at];
      if (frame !== undefined) yield* atMiddle(fault, rendered, frame, paced(frames.slice(at), paceMs, binary));
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
      yield { wait: MAX_STALL_MS };
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
