import { type AudioFrame, jsonForm } from "../session/audio-frame.ts";

const TYPE = '"(?:mimeType|mime_type)"~:~"audio/[\\w.;= -]*"';
const INPUT = '^~{~"(?:realtimeInput|realtime_input)"~:~{~"(?:audio"~:|(?:mediaChunks|media_chunks)"~:~\\[)~{~';
const INPUT_END = "~}~\\]?~}~}~$";
const CONTENT = '^~{~"serverContent"~:~{~"modelTurn"~:~{~(?:"role"~:~"model"~,~)?"parts"~:~\\[~{~"inlineData"~:~{~';
const CONTENT_END = '~}~}~\\]~(?:,~"role"~:~"model"~)?}~}~}~$';

/** Frames of audio, as SDKs write the client's and as hosts write theirs: with the type before the data, or after it. */
export const AUDIO_FRAMES: Readonly<Record<"client" | "host", readonly AudioFrame[]>> = {
  client: [
    { head: jsonForm(`${INPUT}"data"~:~"`), tail: jsonForm(`^~,~${TYPE}${INPUT_END}`) },
    { head: jsonForm(`${INPUT}${TYPE}~,~"data"~:~"`), tail: jsonForm(`^${INPUT_END}`) },
  ],
  host: [
    { head: jsonForm(`${CONTENT}${TYPE}~,~"data"~:~"`), tail: jsonForm(`^${CONTENT_END}`) },
    { head: jsonForm(`${CONTENT}"data"~:~"`), tail: jsonForm(`^~,~${TYPE}${CONTENT_END}`) },
  ],
};
