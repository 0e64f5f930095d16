import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { Billable } from "../../canon/billable.ts";
import type { LiveFrameCheck } from "../live-dialect.ts";
import { billableTools, type ReadTool } from "../reading/billable-tools.ts";
import { parseFrame } from "../session/parse-frame.ts";

const NONE: readonly Billable[] = [];
const read: ReadTool = (_tool, type) => ({ name: type });

/** A session and a response can name tools that the host runs; a session also its model, and a model that transcribes. */
export function check(frame: string): LiveFrameCheck | undefined {
  const event = parseFrame(frame);
  const session = objectAt(event, "session");
  const response = objectAt(event, "response");
  const holder = session ?? response;
  if (holder === undefined) return undefined;
  const at = session === undefined ? "response" : "session";
  const model = stringAt(session, "model");
  const tools = billableTools(holder["tools"], `${at}.tools`, read);
  const billables = [...tools, ...transcriptions(holder, at), ...prompts(holder, at)];
  if (model === undefined && billables.length === 0) return undefined;
  return { ...(model === undefined ? {} : { model }), billables };
}

/** The model that writes down what the user says is billed besides the session's. */
function transcriptions(holder: JsonObject, at: string): readonly Billable[] {
  const places = [
    [objectAt(objectAt(objectAt(holder, "audio"), "input"), "transcription"), `${at}.audio.input.transcription.model`],
    [objectAt(holder, "input_audio_transcription"), `${at}.input_audio_transcription.model`],
  ] as const;
  return places.flatMap(([transcription, path]): readonly Billable[] => {
    const model = stringAt(transcription, "model");
    return model === undefined ? NONE : [{ kind: "tool", name: `transcription:${model}`, path }];
  });
}

/** A prompt that is stored in the provider's account can name any tool. */
function prompts(holder: JsonObject, at: string): readonly Billable[] {
  return holder["prompt"] === undefined || holder["prompt"] === null
    ? NONE
    : [{ kind: "tool", name: "prompt", path: `${at}.prompt` }];
}
