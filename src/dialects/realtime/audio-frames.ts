import { type AudioFrame, jsonForm } from "../session/audio-frame.ts";

const ID = '"event_id"~:~"[^"\\\\]*"';
const APPEND = '"type"~:~"input_audio_buffer\\.append"';
/** What a delta has besides its audio. */
const SIDE = '"(?:event_id|response_id|item_id|output_index|content_index|obfuscation)"~:~(?:"[^"\\\\]*"|\\d+)';
const DELTA = '"type"~:~"response\\.(?:output_)?audio\\.delta"';

/** Frames of audio, as SDKs write the client's and as hosts write theirs. */
export const AUDIO_FRAMES: Readonly<Record<"client" | "host", readonly AudioFrame[]>> = {
  client: [
    { head: jsonForm(`^~{~(?:${ID}~,~)?${APPEND}~,~"audio"~:~"`), tail: jsonForm("^~}~$") },
    { head: jsonForm(`^~{~${APPEND}~,~"audio"~:~"`), tail: jsonForm(`^~,~${ID}~}~$`) },
    { head: jsonForm(`^~{~${APPEND}~,~${ID}~,~"audio"~:~"`), tail: jsonForm("^~}~$") },
    { head: jsonForm('^~{~"audio"~:~"'), tail: jsonForm(`^~,~(?:${ID}~,~)?${APPEND}~(?:,~${ID}~)?}~$`) },
  ],
  host: [
    {
      head: jsonForm(`^~{~(?:${SIDE}~,~)*${DELTA}~,~(?:${SIDE}~,~)*"delta"~:~"`),
      tail: jsonForm(`^~(?:,~${SIDE}~)*}~$`),
    },
  ],
};
