import { describe, expect, test } from "bun:test";
import { VoiceSession, type VoiceSurroundings, type VoiceView } from "./voice-session.ts";

const FRAME = Int16Array.from({ length: 960 }, (_, index) => index);

/** A conversation whose gateway is the test. */
class Conversation {
  readonly sent: Record<string, unknown>[] = [];
  readonly played: string[] = [];
  readonly socket: VoiceSurroundings["socket"];
  readonly session: VoiceSession;
  view: VoiceView | undefined;
  nowMs = 0;
  /** What is heard of an answer when it is interrupted. */
  heard: { itemId: string; ms: number } | undefined;
  closed: number | undefined;

  constructor() {
    this.socket = {
      onopen: null,
      onmessage: null,
      onclose: null,
      send: (text) => void this.sent.push(JSON.parse(String(text)) as Record<string, unknown>),
      close: (code) => {
        this.closed = code;
      },
    };
    this.session = new VoiceSession({
      socket: this.socket,
      play: (itemId, part) => void this.played.push(`${itemId} ${part.length}`),
      hush: () => this.heard,
      nowMs: () => this.nowMs,
      onChange: (view) => {
        this.view = view;
      },
    });
    this.socket.onopen?.call(this.socket as WebSocket, new Event("open"));
  }

  tell(event: object | string): void {
    const data = typeof event === "string" ? event : JSON.stringify(event);
    this.socket.onmessage?.call(this.socket as WebSocket, new MessageEvent("message", { data }));
  }

  end(code: number, reason = ""): void {
    this.socket.onclose?.call(this.socket as WebSocket, { code, reason } as CloseEvent);
  }

  /** The user says something of this many frames. */
  ask(frames = 5): void {
    this.session.press();
    for (let count = 0; count < frames; count++) this.session.hear(FRAME);
    this.session.release();
  }

  get types(): unknown[] {
    return this.sent.map(({ type }) => type);
  }
}

const audio = (id: string) => ({ type: "response.output_audio.delta", item_id: id, delta: btoa("1234") });
const words = (id: string, delta: string) => ({ type: "response.output_audio_transcript.delta", item_id: id, delta });

describe("a spoken conversation in the playground", () => {
  test("sends the microphone only while the button is held, and asks when it is released", () => {
    const conversation = new Conversation();
    expect(conversation.view?.state).toBe("ready");
    conversation.session.hear(FRAME);
    conversation.ask(3);
    conversation.session.hear(FRAME);
    expect(conversation.types).toEqual([
      "input_audio_buffer.clear",
      ...Array(3).fill("input_audio_buffer.append"),
      "input_audio_buffer.commit",
      "response.create",
    ]);
    const sound = Buffer.from(String(conversation.sent[1]?.["audio"]), "base64");
    expect(sound.equals(Buffer.from(FRAME.buffer))).toBe(true);
    expect(conversation.view?.state).toBe("answering");
  });

  test("shows both sides in order, the delay of the first sound, and the receipt", () => {
    const conversation = new Conversation();
    conversation.nowMs = 1_000;
    conversation.ask();
    conversation.nowMs = 1_180;
    conversation.tell(words("a1", "Good"));
    conversation.tell(audio("a1"));
    conversation.nowMs = 1_500;
    conversation.tell(audio("a1"));
    conversation.tell({
      type: "conversation.item.input_audio_transcription.completed",
      item_id: "q1",
      transcript: "Hi",
    });
    conversation.tell(words("a1", " day."));
    const response = { status: "completed", metadata: { trivium_receipt: "gen_1" } };
    conversation.tell({ type: "response.done", response });
    expect(conversation.view).toEqual({
      state: "ready",
      error: "",
      said: [
        { who: "you", id: "q1", text: "Hi" },
        { who: "model", id: "a1", text: "Good day." },
      ],
      firstMs: 180,
      receipt: "gen_1",
    });
    expect(conversation.played).toEqual(["a1 4", "a1 4"]);
  });

  test("pressing again interrupts the answer, and forgets what was not heard", () => {
    const conversation = new Conversation();
    conversation.ask();
    conversation.tell(audio("a1"));
    conversation.heard = { itemId: "a1", ms: 320 };
    conversation.session.press();
    expect(conversation.sent.slice(-3)).toEqual([
      { type: "response.cancel" },
      { type: "conversation.item.truncate", item_id: "a1", content_index: 0, audio_end_ms: 320 },
      { type: "input_audio_buffer.clear" },
    ]);
    conversation.tell(audio("a1"));
    expect(conversation.played).toHaveLength(1);
    conversation.tell({ type: "error", error: { code: "response_cancel_not_active", message: "late" } });
    conversation.tell({ type: "response.done", response: { status: "cancelled" } });
    expect(conversation.view).toMatchObject({ state: "listening", error: "" });
  });

  test("a button that is only touched sends nothing to answer", () => {
    const conversation = new Conversation();
    conversation.ask(2);
    expect(conversation.types).not.toContain("response.create");
    expect(conversation.view).toMatchObject({ state: "ready", error: "Hold the button while you talk." });
  });

  test("failures are shown, and a failed answer can be followed by another", () => {
    const conversation = new Conversation();
    conversation.ask();
    const response = { status: "failed", status_details: { error: { message: "No capacity." } } };
    conversation.tell({ type: "response.done", response });
    expect(conversation.view).toMatchObject({ state: "ready", error: "No capacity." });
    conversation.ask();
    conversation.tell({ type: "error", error: { message: "The budget is exhausted." } });
    expect(conversation.view).toMatchObject({ state: "ready", error: "The budget is exhausted." });
    conversation.end(1001, "draining");
    expect(conversation.view).toMatchObject({ state: "failed", error: "The budget is exhausted." });
    const lost = new Conversation();
    lost.end(1006);
    expect(lost.view).toMatchObject({ state: "failed", error: "The connection was closed with code 1006." });
    const garbled = new Conversation();
    garbled.tell("{");
    expect([garbled.view?.state, garbled.closed]).toEqual(["failed", 1000]);
  });

  test("is closed by the user without an error", () => {
    const conversation = new Conversation();
    conversation.session.close();
    conversation.end(1000);
    expect(conversation.view).toMatchObject({ state: "closed", error: "" });
    expect(conversation.closed).toBe(1000);
  });
});
