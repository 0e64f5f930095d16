import type { Extra, Turn } from "./call.ts";
import type { GatewayError } from "./error.ts";
import type { ReasoningRequest } from "./reasoning.ts";
import type { FieldNote } from "./receipt.ts";
import type { Tool, ToolChoice } from "./tool.ts";
import type { Usage } from "./usage.ts";

/** Mono audio as it is on a wire: 16-bit little-endian PCM at a rate, or G.711 at 8 kHz. */
export type LiveAudioFormat = { type: "pcm"; rate: number } | { type: "pcmu" } | { type: "pcma" };

export type LiveModality = "text" | "audio";

/** How a host finds out that the user speaks, or has finished. */
export interface LiveTurnDetection {
  /** `semantic`: a model decides when the user has finished. */
  type: "server" | "semantic";
  /** How loud speech must be, from 0 to 1. */
  threshold?: number;
  prefixPaddingMs?: number;
  silenceMs?: number;
  /** The model speaks by itself after a silence of this length. */
  idleTimeoutMs?: number;
  /** How soon the model takes the user to have finished. */
  eagerness?: "low" | "medium" | "high";
  /** Whether the end of speech begins a turn. */
  responds: boolean;
  /** Whether speech ends a turn in progress. */
  interrupts: boolean;
}

/** How the user's speech is written down. `model` is absent if the host decides. */
export interface LiveTranscription {
  model?: string;
  languages?: readonly string[];
  prompt?: string;
}

/** The settings that notes can name, including members of `turnDetection` and `inputTranscription`. */
export type LiveSettingName =
  | Exclude<keyof LiveSettings, "paths" | "extras">
  | `turnDetection.${keyof LiveTurnDetection}`
  | `inputTranscription.${keyof LiveTranscription}`;

/** Settings of a session. An update has only what it changes. */
export interface LiveSettings {
  model?: string;
  modalities?: readonly LiveModality[];
  instructions?: string;
  voice?: string;
  speed?: number;
  temperature?: number;
  maxOutputTokens?: number | "unlimited";
  tools?: readonly Tool[];
  toolChoice?: ToolChoice;
  parallelTools?: boolean;
  reasoning?: ReasoningRequest;
  inputFormat?: LiveAudioFormat;
  outputFormat?: LiveAudioFormat;
  /** null: none. */
  inputTranscription?: LiveTranscription | null;
  outputTranscription?: boolean;
  /** null: the client says when the user speaks. */
  turnDetection?: LiveTurnDetection | null;
  /** `auto`: the host drops the oldest of a conversation that has become too long. */
  truncation?: "auto" | "disabled";
  /** The path of each setting in the client's event. */
  paths: Readonly<Partial<Record<LiveSettingName, string>>>;
  /** Settings that exist only in the client's protocol. */
  extras: readonly Extra[];
}

/** A message, a call or a result in the conversation. Calls and results are the parts of a turn, as in a request. */
export interface LiveItem {
  /** The client's id, or the host's. */
  id: string;
  turn: Turn;
}

/** What one turn changes of the session's settings, and what it is for. */
export interface LiveTurnRequest {
  settings?: LiveSettings;
  /** Returned with the turn, where the protocol has it. */
  metadata?: Readonly<Record<string, string>>;
  /** `none`: neither sees the conversation's later items nor adds to it. */
  conversation?: "auto" | "none";
  /** Replaces the conversation as the prompt. */
  input?: readonly LiveItem[];
  paths: Readonly<Partial<Record<"conversation" | "input" | "instructions", string>>>;
}

/** What a client does. `eventId` is the client's id of the event, which its error repeats. */
export type LiveCommand = { eventId?: string } & (
  | { type: "settings"; settings: LiveSettings }
  /** Speech as it is recorded, in the format of the session or, where each frame names one, in its own. */
  | { type: "audio"; audio: Uint8Array; format: LiveAudioFormat }
  /** The audio so far is what the user said. */
  | { type: "audio-commit" }
  /** Forgets the audio since the last commit. */
  | { type: "audio-clear" }
  /** The microphone is off. */
  | { type: "audio-end" }
  | { type: "activity-start" }
  | { type: "activity-end" }
  /** A frame of video. `data` is base64. */
  | { type: "video"; mimeType: string; data: string; path: string }
  /** Text as it is typed, which the host answers as it answers speech. */
  | { type: "typed"; text: string }
  /** `after`: the id of the item before it, `root` for the beginning. Absent: at the end. */
  | { type: "item"; item: LiveItem; after?: string }
  | { type: "item-delete"; itemId: string }
  | { type: "item-retrieve"; itemId: string }
  /** The user heard only the beginning. */
  | { type: "item-truncate"; itemId: string; contentIndex: number; audioEndMs: number }
  /** Begins a turn. `results`: with the tool results so far, once all calls have one. */
  | { type: "respond"; cause: "asked" | "results"; request?: LiveTurnRequest }
  | { type: "cancel"; turnId?: string }
  /** The event is not valid. The client gets the error; nothing is sent to the host. */
  /** `asksTurn`: it would have begun a turn. */
  | { type: "invalid"; error: GatewayError; asksTurn?: boolean }
  /** An event that this dialect does not know, or one whose fields only a host of the same protocol can read: `unread` says why. */
  | { type: "unknown"; name: string; unread?: GatewayError }
);

/** Why a turn ended early. */
export type LiveEndReason = "turn_detected" | "client_cancelled" | "max_output_tokens" | "content_filter" | "other";

export type LiveTurnStatus = "completed" | "cancelled" | "failed" | "incomplete";

/** Work of a host that is no turn. No two of a session, and no turn, have the same id. */
export interface LiveWork {
  id: string;
  what: string;
  model?: string;
}

/** Writing down what the user says. Its id is that of the item. */
export const TRANSCRIPTION = "transcription";

/** What a host does. Deltas belong to the turn that began last. */
export type LiveEvent =
  /** The session exists. `id` is the host's name of it. */
  | { type: "ready"; id?: string; settings: LiveSettings }
  /** The settings that apply from now on: those of the update, or all. */
  | { type: "settings-applied"; settings: LiveSettings }
  /** The user began to speak. `atMs` counts the session's audio. */
  | { type: "speech-started"; itemId: string; atMs?: number }
  | { type: "speech-stopped"; itemId: string; atMs?: number }
  /** The user's speech has become an item. */
  | { type: "input-committed"; itemId: string; previousItemId?: string }
  | { type: "input-cleared" }
  | { type: "input-transcript-delta"; itemId: string; text: string }
  /** `usage` is what the transcription cost besides the turn, as the client is shown it. */
  | { type: "input-transcript"; itemId: string; text: string; usage?: Usage }
  | { type: "input-transcript-failed"; itemId: string; error: GatewayError }
  | { type: "item-added"; item: LiveItem; previousItemId?: string }
  | { type: "item-deleted"; itemId: string }
  | { type: "item-truncated"; itemId: string; contentIndex: number; audioEndMs: number }
  /** `detected`: nobody asked for it; the host took the user to have finished. */
  | { type: "turn-began"; id: string; cause: "asked" | "detected"; metadata?: Readonly<Record<string, string>> }
  | { type: "text-delta"; text: string }
  /** What the audio says. */
  | { type: "transcript-delta"; text: string }
  | { type: "audio-delta"; audio: Uint8Array; format: LiveAudioFormat }
  /** A thought that the host shows. */
  | { type: "reasoning-delta"; text: string }
  /** A whole call. `arguments` is JSON text of an object. */
  | { type: "tool-call"; id: string; name: string; arguments: string }
  /** The calls need no result, because the user interrupted the turn. */
  | { type: "tool-calls-cancelled"; ids: readonly string[] }
  /** The user interrupted the model: what was not played yet is void. */
  | { type: "interrupted" }
  | {
      type: "turn-ended";
      id: string;
      status: LiveTurnStatus;
      reason?: LiveEndReason;
      error?: GatewayError;
      usage?: Usage;
      metadata?: Readonly<Record<string, string>>;
    }
  /** The host begins work that it bills besides turns. `model` is its own name of the model that does it. */
  | ({ type: "work-began" } & LiveWork)
  /** The work is over. Without `usage` the host does not say what it costs; with an error it costs nothing. */
  | ({ type: "work-ended"; usage?: Usage; error?: GatewayError } & LiveWork)
  /** What a turn or work used in all, after its end. Without an id: outside of all. */
  | { type: "used"; id?: string; usage: Usage }
  /** The host will close the connection. */
  | { type: "going-away"; timeLeftMs?: number }
  /** `eventId`: the client's event that caused it. */
  | { type: "error"; error: GatewayError; fatal: boolean; eventId?: string }
  /** An event that this dialect does not know, or that the other side need not see. */
  | { type: "unknown"; name: string };

/** What follows from a command or from a host's frame. */
export interface LiveStep {
  /** To be sent to the host, in order. */
  readonly frames: readonly string[];
  /** For the client, in order. */
  readonly events: readonly LiveEvent[];
}

/** The side of a dialect that speaks to the client. One per session. */
export interface LiveClientCodec {
  /** Never throws: an invalid frame is an `invalid` command. */
  decode(frame: string): readonly LiveCommand[];
  encode(event: LiveEvent): readonly string[];
  /** Unless told otherwise, the client may wait for a turn that will not come. */
  encodeError(error: GatewayError, eventId?: string, endsTurn?: boolean): readonly string[];
  /** Ends an open turn with the error, and reports it. For a lost host connection. */
  encodeCut(error: GatewayError): readonly string[];
  encodeGoingAway(timeLeftMs: number): readonly string[];
  /** What the client does not get as it was: since the last call. */
  takeNotes(): readonly FieldNote[];
}

/** The side of a dialect that speaks to the host. One per session. */
export interface LiveUpstreamCodec {
  /** Once, as soon as the socket is open. */
  open(): LiveStep;
  encode(command: LiveCommand): LiveStep;
  /** Never throws: an invalid frame is a fatal `error` event. */
  decode(frame: string): LiveStep;
  /** In a native session, instead of `encode`: a client's frame that was not audio went to the host as it was. */
  follow(command: LiveCommand): void;
  /** In a native session, instead of `decode`: a host's frame of audio went to the client as it was. */
  passAudio(bytes: number): readonly LiveEvent[];
  /** The turn in progress. */
  readonly turnId: string | undefined;
  /** What the host does not get as the client sent it: since the last call. */
  takeNotes(): readonly FieldNote[];
}
