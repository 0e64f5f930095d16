import type { Heard } from "./speaker.ts";

/** What one side has said. */
export interface Said {
  who: "you" | "model";
  /** The item of the conversation. */
  id: string;
  text: string;
}

export interface VoiceView {
  state: "connecting" | "ready" | "listening" | "answering" | "closed" | "failed";
  error: string;
  said: readonly Said[];
  /** From the end of the question to the first sound of the answer. */
  firstMs: number | undefined;
  /** Of the last answer. */
  receipt: string | undefined;
}

/** What a session uses of the browser. */
export interface VoiceSurroundings {
  socket: Pick<WebSocket, "send" | "close" | "onopen" | "onmessage" | "onclose">;
  play(itemId: string, part: Uint8Array): void;
  /** Falls silent, and tells what was heard. */
  hush(): Heard | undefined;
  nowMs(): number;
  onChange(view: VoiceView): void;
}

interface ServerEvent {
  type?: string;
  item_id?: string;
  delta?: string;
  transcript?: string;
  error?: { message?: string; code?: string };
  response?: {
    status?: string;
    metadata?: { trivium_receipt?: string } | null;
    status_details?: { error?: { message?: string } } | null;
  };
}

/** Shorter audio cannot be committed. */
const MIN_MS = 100;
const FRAME_MS = 40;
const MAX_SAID = 200;

const START: VoiceView = { state: "connecting", error: "", said: [], firstMs: undefined, receipt: undefined };

/** A spoken conversation in the Realtime protocol, in which the user holds a button to talk. */
export class VoiceSession {
  readonly #around: VoiceSurroundings;
  #view = START;
  #frames = 0;
  #askedAtMs: number | undefined;

  constructor(around: VoiceSurroundings) {
    this.#around = around;
    const { socket } = around;
    socket.onopen = () => this.#change({ state: "ready" });
    socket.onmessage = ({ data }: MessageEvent) => this.#take(parsed(data));
    socket.onclose = ({ code, reason }: CloseEvent) => {
      around.hush();
      if (this.#view.state === "failed" || this.#view.state === "closed") return;
      if (code === 1000) this.#change({ state: "closed" });
      else this.#fail(`The connection was closed with code ${code}${reason === "" ? "." : `: ${reason}`}`);
    };
  }

  /** The user begins to talk, which ends an answer. */
  press(): void {
    const { state } = this.#view;
    if (state !== "ready" && state !== "answering") return;
    const heard = this.#around.hush();
    if (state === "answering") this.#send({ type: "response.cancel" });
    if (heard !== undefined) {
      const { itemId, ms } = heard;
      this.#send({ type: "conversation.item.truncate", item_id: itemId, content_index: 0, audio_end_ms: ms });
    }
    this.#send({ type: "input_audio_buffer.clear" });
    this.#frames = 0;
    this.#change({ state: "listening", error: "" });
  }

  /** A frame of the microphone, which is sent while the user talks. */
  hear(frame: Int16Array): void {
    if (this.#view.state !== "listening") return;
    this.#frames++;
    this.#send({ type: "input_audio_buffer.append", audio: base64(frame) });
  }

  /** The user has said everything. */
  release(): void {
    if (this.#view.state !== "listening") return;
    if (this.#frames * FRAME_MS < MIN_MS) {
      this.#change({ state: "ready", error: "Hold the button while you talk." });
      return;
    }
    this.#send({ type: "input_audio_buffer.commit" });
    this.#send({ type: "response.create" });
    this.#askedAtMs = this.#around.nowMs();
    this.#change({ state: "answering", firstMs: undefined, receipt: undefined });
  }

  close(): void {
    this.#around.hush();
    if (this.#view.state !== "failed") this.#change({ state: "closed" });
    this.#around.socket.close(1000);
  }

  #take(event: ServerEvent | undefined): void {
    if (event === undefined) {
      this.#fail("The gateway sent a message that is not JSON.");
      this.#around.socket.close(1000);
      return;
    }
    const { type, item_id: id = "", delta = "" } = event;
    switch (type) {
      case "conversation.item.input_audio_transcription.completed":
        this.#say("you", id, event.transcript ?? "");
        break;
      case "response.output_audio_transcript.delta":
        this.#say("model", id, delta);
        break;
      case "response.output_audio.delta":
        // Parts may arrive after the user has interrupted the answer.
        if (this.#view.state !== "answering") return;
        this.#around.play(id, bytesOf(delta));
        if (this.#view.firstMs === undefined && this.#askedAtMs !== undefined)
          this.#change({ firstMs: this.#around.nowMs() - this.#askedAtMs });
        break;
      case "response.done":
        this.#endAnswer(event);
        break;
      case "error":
        this.#takeError(event);
        break;
    }
  }

  #endAnswer({ response }: ServerEvent): void {
    const { state } = this.#view;
    const failure =
      response?.status === "failed" ? (response.status_details?.error?.message ?? "The response failed.") : "";
    this.#change({
      ...(state === "answering" ? { state: "ready" as const } : {}),
      ...(failure === "" ? {} : { error: failure }),
      receipt: response?.metadata?.trivium_receipt ?? this.#view.receipt,
    });
  }

  #takeError({ error }: ServerEvent): void {
    // The answer had ended before the user interrupted it.
    if (error?.code === "response_cancel_not_active") return;
    const { state } = this.#view;
    const message = error?.message ?? "The gateway reported an error.";
    this.#change({ error: message, ...(state === "answering" ? { state: "ready" as const } : {}) });
  }

  #say(who: Said["who"], id: string, text: string): void {
    const { said } = this.#view;
    const at = said.findIndex((one) => one.id === id && one.who === who);
    const before = said[at];
    const now = { who, id, text: (before?.text ?? "") + text };
    // A question is transcribed while it is answered, and comes before the answer.
    const last = said.at(-1);
    const isLate = before === undefined && who === "you" && last?.who === "model" && this.#view.state === "answering";
    const added = isLate ? [...said.slice(0, -1), now, last] : [...said, now];
    this.#change({ said: (before === undefined ? added : said.with(at, now)).slice(-MAX_SAID) });
  }

  #send(event: object): void {
    this.#around.socket.send(JSON.stringify(event));
  }

  #fail(error: string): void {
    this.#change({ state: "failed", error: this.#view.error || error });
  }

  #change(changes: Partial<VoiceView>): void {
    this.#view = { ...this.#view, ...changes };
    this.#around.onChange(this.#view);
  }
}

function parsed(data: unknown): ServerEvent | undefined {
  try {
    return JSON.parse(String(data)) as ServerEvent;
  } catch {
    return undefined;
  }
}

function base64(frame: Int16Array): string {
  let binary = "";
  for (const byte of new Uint8Array(frame.buffer, frame.byteOffset, frame.byteLength))
    binary += String.fromCharCode(byte);
  return btoa(binary);
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
