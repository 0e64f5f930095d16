import { expect, test } from "bun:test";
import { unfold } from "../../canon/fold.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { CanonReply } from "../../canon/reply.ts";
import { readFrames } from "../../wire/sse.ts";
import { DIALECTS } from "../index.ts";
import { encodeContext } from "./encode-context.sample.ts";

const DROPPED = [
  { path: "answer.content", action: "dropped", reason: "responses of this protocol cannot contain the model's audio" },
  { path: "answer.content", action: "dropped", reason: "responses of this protocol cannot contain the model's video" },
];
const SAID =
  "[audio omitted: this protocol has no place for it][video omitted: this protocol has no place for it]Heard?";

const reply: CanonReply = {
  parts: [
    { type: "media", kind: "audio", source: { type: "data", mimeType: "audio/wav", data: "AAAA" } },
    { type: "media", kind: "video", source: { type: "url", url: "https://host.example/video.mp4" } },
    {
      type: "text",
      text: "Heard?",
      citations: [{ type: "web", url: "https://a.example/" }],
    },
  ],
  stop: { unified: "stop", raw: "STOP" },
};

interface Message {
  content: string | { type: string; text: string }[];
  annotations?: { url_citation: { start_index: number; end_index: number } }[];
}

function reported() {
  const notes: FieldNote[] = [];
  return { notes, context: { ...encodeContext(), note: (note: FieldNote) => notes.push(note) } };
}

test("H09: audio and video in a complete response are replaced by text and noted in the receipt", () => {
  for (const dialect of ["chat", "messages"] as const) {
    const { notes, context } = reported();
    const body = JSON.parse(DIALECTS[dialect].codec.encodeResponse(reply, context));
    const message: Message = dialect === "chat" ? body.choices[0].message : body;
    const { content, annotations } = message;
    expect(typeof content === "string" ? content : content.map(({ text }) => text).join("")).toBe(SAID);
    expect(notes).toEqual(DROPPED as FieldNote[]);
    if (dialect === "chat") expect(annotations?.[0]?.url_citation.start_index).toBe(SAID.length - "Heard?".length);
  }
});

test("H09: audio and video in a streamed response are replaced by text and noted in the receipt", () => {
  for (const dialect of ["chat", "messages"] as const) {
    const { notes, context } = reported();
    const encoder = DIALECTS[dialect].codec.createStreamEncoder(context);
    const frames = readFrames([...unfold(reply)].map((event) => encoder.push(event)).join(""));
    const events = frames.flatMap(({ data }) => (data === undefined || data === "[DONE]" ? [] : [JSON.parse(data)]));
    const said = events.map((event) => event.choices?.[0]?.delta.content ?? event.delta?.text ?? "").join("");
    expect(said).toBe(SAID);
    expect(notes).toEqual(DROPPED as FieldNote[]);
    if (dialect === "messages") continue;
    const cited = events.flatMap((event) => event.choices?.[0]?.delta.annotations ?? []);
    expect(cited[0]?.url_citation.start_index).toBe(SAID.length - "Heard?".length);
  }
});
