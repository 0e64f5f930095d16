import type { FieldNote } from "../../canon/receipt.ts";
import { refuse } from "../../dialects/reading/check.ts";
import type { SpeechCapabilities } from "./speech-adapter.ts";
import type { FittedSpeechCall, SpeechCall } from "./speech-call.ts";

interface FittedSpeech {
  call: FittedSpeechCall;
  notes: FieldNote[];
}

/** The call as a host's model accepts it, with what it cannot honour. A format that it does not have is refused. */
export function fitSpeech(call: SpeechCall, capabilities: SpeechCapabilities, model: string): FittedSpeech {
  const { formats, takes, otherVoice, speaksInstructions } = capabilities;
  const { instructions, speed, extras, voice, format = formats[0], ...rest } = call;
  if (!formats.includes(format)) {
    refuse("response_format", `must be one of ${formats.map((one) => `"${one}"`).join(", ")} for ${model}`);
  }
  const notes: FieldNote[] = [];
  const drop = (path: string): void => {
    notes.push({ path, action: "dropped", reason: "this model does not support this setting" });
  };
  const fitted: FittedSpeechCall = { ...rest, format, extras: takes.includes("extras") ? extras : {} };
  const other = otherVoice?.(voice);
  if (other !== undefined) {
    fitted.voice = other.voice;
    if (voice !== undefined) notes.push({ path: "voice", action: "approximated", reason: other.reason });
  } else if (voice !== undefined) fitted.voice = voice;
  if (instructions !== undefined) {
    if (takes.includes("instructions")) fitted.instructions = instructions;
    else if (!speaksInstructions) drop("instructions");
    else {
      fitted.instructions = instructions;
      notes.push({
        path: "instructions",
        action: "approximated",
        reason: "this model receives them as part of the text",
      });
    }
  }
  if (speed !== undefined) {
    if (takes.includes("speed")) fitted.speed = speed;
    else if (speed !== 1) drop("speed");
  }
  if (!takes.includes("extras")) for (const name of Object.keys(extras)) drop(name);
  return { call: fitted, notes };
}
