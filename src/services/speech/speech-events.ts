import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";

const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

/** A part of the sound, as an event. */
export const soundEvent = (sound: Uint8Array): string =>
  frame({ type: "speech.audio.delta", audio: Buffer.from(sound).toString("base64") });

/** The end of the sound. */
export function soundEnd(usage: Usage): string {
  const [input, output] = [promptTokens(usage), completionTokens(usage)];
  return frame({
    type: "speech.audio.done",
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  });
}
