import { type JsonObject, parseObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { AdapterContext, FormPart, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { FittedVideoCall } from "../../media/video-call.ts";

/** Calls and answers for tests of media adapters. The images are first bytes only. */
export const PNG = { mimeType: "image/png", base64: "iVBORw0KGgoAAAA=" };
export const JPEG = { mimeType: "image/jpeg", base64: "/9j/4AAQSkZJRg==" };

export const imageCall = (fields: Partial<FittedImageCall> = {}): FittedImageCall => ({
  prompt: "a red fox",
  count: 1,
  inputs: [],
  extras: {},
  ...fields,
});

export const videoCall = (fields: Partial<FittedVideoCall> = {}): FittedVideoCall => ({
  prompt: "a red fox runs",
  count: 1,
  seconds: 8,
  resolution: "720p",
  audio: true,
  extras: {},
  ...fields,
});

export const adapterContext = (model: string): AdapterContext => ({ model, settings: {}, jobName: "job-0001" });

/** A response as the relay passes it on; a string is its text, which need not be JSON. */
export function mediaAnswer(body: JsonObject | string, status = 200, retryAfterSeconds?: number): MediaAnswer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, text, body: parseObject(text), retryAfterSeconds };
}

export function jsonOf(request: MediaRequest): JsonObject {
  if (request.body === undefined || !("json" in request.body)) throw new Error(`${request.url} has no JSON`);
  return request.body.json;
}

export function formOf(request: MediaRequest): readonly FormPart[] {
  if (request.body === undefined || !("form" in request.body)) throw new Error(`${request.url} has no form`);
  return request.body.form;
}

/** The GatewayError that a reader throws, for a test to compare. */
export function thrownBy(read: () => unknown): { kind: string; message: string } {
  try {
    read();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { kind: thrown.kind, message: thrown.message };
    throw thrown;
  }
  throw new Error("nothing was thrown");
}
