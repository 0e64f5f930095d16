import type { ReceivedEvent } from "../../guards/stream/stream-guard.ts";
import { elementTexts } from "../../wire/json-text.ts";
import { readFrames, type SseFrame } from "../../wire/sse.ts";

/** The events in a part of a stream as the client's protocol writes it: server-sent, or elements of a JSON array. */
export function receivedEvents(text: string, isEvents: boolean): ReceivedEvent[] {
  if (isEvents) return readFrames(text).map(sentEvent);
  const start = text.indexOf("{");
  if (start < 0) return text === "" ? [] : [{ raw: text, data: undefined, write: () => text }];
  const end = text.lastIndexOf("}") + 1;
  const elements = elementTexts(`[${text.slice(start, end)}]`);
  return elements.map((data, index) => {
    const before = index === 0 ? text.slice(0, start) : ",\r\n";
    const after = index === elements.length - 1 ? text.slice(end) : "";
    return { raw: before + data + after, data, write: (changed) => before + changed + after };
  });
}

const sentEvent = ({ raw, data }: SseFrame): ReceivedEvent => ({
  raw,
  data,
  write: (changed) => {
    const kept = raw.split(/\r\n|\n|\r/).filter((line) => line !== "" && !line.startsWith("data:"));
    return `${kept.map((line) => `${line}\n`).join("")}data: ${changed}\n\n`;
  },
});
