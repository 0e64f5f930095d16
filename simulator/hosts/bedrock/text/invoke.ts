import { HostError } from "../../../host-error.ts";
import type { JsonObject } from "../../../json.ts";
import type { Frame, IncomingCall, ReadCall, Rendered, TextAdapter } from "../../../text/adapter.ts";
import { anthropicAdapter } from "../../anthropic/text/adapter.ts";
import { type Cloud, callOnCloud } from "../../anthropic/text/on-cloud.ts";
import { bedrockFailure, fromModel, invalid, modelNotFound } from "./errors.ts";
import { exceptionFrame, paddedEvent } from "./framing.ts";

const CLOUD: Cloud = {
  version: "bedrock-2023-05-31",
  refused: ["model", "stream"],
  schemas: true,
};

/** An event of the model's own in a frame of the host's; the last carries the host's measurements. */
function chunk(frame: Frame, ordinal: number, render: (json: string, ordinal: number) => string): Frame[] {
  const json = /^data: (.*)$/m.exec(frame.text)?.[1] ?? "{}";
  const event = JSON.parse(json) as JsonObject;
  // Pings stop at the host.
  if (event.type === "ping") return [];
  const metrics = { inputTokenCount: 1, outputTokenCount: 1, invocationLatency: 10, firstByteLatency: 5 };
  const sent = event.type === "message_stop" ? { ...event, "amazon-bedrock-invocationMetrics": metrics } : event;
  return [{ ...frame, text: render(JSON.stringify(sent), ordinal) }];
}

function inFrames(rendered: Rendered, render: (json: string, ordinal: number) => string): Rendered {
  return {
    ...rendered,
    headers: {},
    frames: () => rendered.frames().flatMap((frame, ordinal) => chunk(frame, ordinal, render)),
    frameType: "application/vnd.amazon.eventstream",
    binary: true,
    errorFrame: () => exceptionFrame("modelStreamErrorException", "Simulated: the model broke off."),
    garbageFrame: render('{"type":"content_block_delta","index":0,"del', 0),
  };
}

/** Refusals of the model's own come in the host's shape. */
function asHost<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof HostError ? fromModel(error) : error;
  }
}

/** InvokeModel, for Claude: the messages API without model and stream, in the host's frames. */
export function invokeAdapter(model: string, stream: boolean): TextAdapter {
  const wrap = ({ prompt, render }: ReadCall): ReadCall => ({
    prompt,
    stream,
    render: (plan) =>
      inFrames(
        asHost(() => render(plan)),
        (json, ordinal) => paddedEvent("chunk", { bytes: Buffer.from(json).toString("base64") }, plan.seed, ordinal),
      ),
  });
  const inner = (call: IncomingCall) => callOnCloud(call, CLOUD, model, stream);
  return {
    family: "bedrock",
    cachesMarkedOnly: true,
    read: (call, facts) => wrap(asHost(() => anthropicAdapter.read(inner(call), facts))),
    readUnchecked: (call, facts) => wrap(anthropicAdapter.readUnchecked(call, facts)),
    notFound: () => modelNotFound(),
    tooLong: (tokens, limit) => invalid(`prompt is too long: ${tokens} tokens > ${limit} maximum`),
    failure: bedrockFailure,
  };
}
