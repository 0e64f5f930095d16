import { HostError } from "../../../host-error.ts";
import { decodeBase64, inspectMedia, MediaProblem } from "../../../inspect-media.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { Unheard } from "../../../live/compose.ts";
import { InputBuffer } from "../../../live/input-buffer.ts";
import type { LiveContext, LiveWire, LiveSession as Session } from "../../../live/live-host.ts";
import { understand } from "../../../live/understand.ts";
import { VoiceActivity } from "../../../live/voice-activity.ts";
import { names } from "../../../names.ts";
import { Seed } from "../../../seed.ts";
import type { PromptPart } from "../../../text/prompt.ts";
import { traitsOf } from "../../../text/traits.ts";
import { firstChannel } from "../../../voice/wav.ts";
import { type GoogleHost, googleFailure, invalidValue } from "../text/errors.ts";
import { refuseUnknown, withCamelNames } from "../text/proto-json.ts";
import { readContents } from "../text/read-contents.ts";
import { readSystem, readTools } from "../text/read-request.ts";
import { History, type ModalityTokens, soundTokens } from "./history.ts";
import type { LiveHandles } from "./live-handles.ts";
import { LiveTurn, type TurnSession } from "./live-turn.ts";
import { INTERNAL, INVALID, POLICY, Refusal, refusalOf } from "./refusal.ts";
import { readSetup, type Setup } from "./setup.ts";

/** How a session was opened. */
interface OpenedWith {
  host: GoogleHost;
  version: string;
  number: number;
  handles: LiveHandles;
  /** Why the session ends as soon as it is open. */
  refusal: Refusal | undefined;
}

const MESSAGES = ["setup", "clientContent", "realtimeInput", "toolResponse", "contextUpdate"] as const;
const CONTENT = names("turns turnComplete");
const INPUT = names("mediaChunks audio audioStreamEnd video text activityStart activityEnd");
const BLOB = names("mimeType data");
const DEFAULT_RATE = 16_000;
const MODELS = /^(?:live|gemini-.*(?:live|native-audio).*)$/;

const bufferAt = (rate: number): InputBuffer =>
  new InputBuffer({ rate, bytesPerSample: 2, decode: (bytes) => firstChannel(bytes, 1) });

/** A session of the Live API. */
export class LiveSession implements Session, TurnSession {
  readonly #context: LiveContext;
  readonly #with: OpenedWith;
  readonly #seed: Seed;
  #ids = 0;
  #messages = 0;
  #wire: LiveWire | undefined;
  #isDeaf = false;
  #model = "";
  #setup: Setup | undefined;
  history = new History();
  #rate = DEFAULT_RATE;
  #buffer = bufferAt(DEFAULT_RATE);
  #activity: VoiceActivity | undefined;
  /** Between the client's own marks. */
  #isMarked = false;
  #turn: LiveTurn | undefined;
  /** What the user says while the model speaks, which comes after it. */
  #later: { part: PromptPart; tokens: ModalityTokens | undefined }[] = [];
  /** A turn of the user that waits for the model's to end. */
  #waiting: { unheard: Unheard | undefined } | undefined;
  readonly #calls = new Map<string, string>();

  constructor(context: LiveContext, opened: OpenedWith) {
    this.#context = context;
    this.#with = opened;
    this.#seed = new Seed(`live ${opened.number}`);
  }

  get wire(): LiveWire {
    if (this.#wire === undefined) throw new Error("the session is not open");
    return this.#wire;
  }

  get setup(): Setup {
    if (this.#setup === undefined) throw new Error("the session is not set up");
    return this.#setup;
  }

  get partDelayMs(): number {
    return this.#context.partDelayMs;
  }

  opened(wire: LiveWire): void {
    this.#wire = wire;
    const { refusal } = this.#with;
    if (refusal !== undefined) this.close(refusal.code, refusal.reason);
  }

  message(frame: string | Uint8Array): void {
    if (this.#isDeaf) return;
    try {
      const message = parseMessage(frame);
      this.#context.onMessage?.(message);
      this.#messages++;
      this.#handle(message);
    } catch (thrown) {
      const refusal = thrown instanceof HostError ? refusalOf(thrown) : thrown;
      if (!(refusal instanceof Refusal)) throw thrown;
      this.close(refusal.code, refusal.reason);
    }
  }

  closed(): void {
    this.#isDeaf = true;
    this.#turn?.leave();
    this.#turn = undefined;
  }

  // What turns use:

  /** This host sends its JSON in binary frames. */
  send(message: JsonObject): void {
    if (!this.#isDeaf) this.#wire?.send(Buffer.from(JSON.stringify(message)));
  }

  makeId(prefix: string): string {
    return `${prefix}${this.#seed.number(`${prefix} ${++this.#ids}`, 2 ** 31)}${this.#ids}`;
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return this.#context.wait(ms, signal);
  }

  fallSilent(): void {
    this.closed();
  }

  close(code: number, reason: string): void {
    this.closed();
    this.#wire?.close(code, reason);
  }

  called(id: string, name: string): void {
    this.#calls.set(id, name);
  }

  ended(turn: LiveTurn): void {
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    for (const { part, tokens } of this.#later.splice(0)) this.history.add("user", part, tokens);
    if (this.#calls.size === 0) this.#offerResumption();
    const next = this.#waiting;
    this.#waiting = undefined;
    if (next !== undefined && !this.#isDeaf) this.#generate(next.unheard);
  }

  #handle(message: JsonObject): void {
    const unknown = Object.keys(message).find((name) => !MESSAGES.some((known) => known === name));
    if (unknown !== undefined)
      throw new Refusal(INVALID, `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`);
    const given = MESSAGES.filter((name) => message[name] !== undefined);
    const [type] = given;
    if (given.length !== 1 || type === undefined) throw new Refusal(INVALID, "Request contains an invalid argument.");
    const body = message[type];
    if (!isObject(body)) throw invalidValue(type, "message", body ?? null);
    if ((type === "setup") !== (this.#setup === undefined))
      throw new Refusal(INVALID, "setup must be the first message and only the first");
    if (type === "setup") this.#begin(body);
    else if (type === "clientContent") this.#readContent(body);
    else if (type === "realtimeInput") this.#readInput(body);
    else if (type === "toolResponse") this.#readResults(body);
    else this.#updateContext(body);
  }

  #begin(body: JsonObject): void {
    const { host, handles } = this.#with;
    this.#checkModel(body.model);
    const setup = readSetup(body, host);
    if (setup.resumption) {
      const history = handles.find(setup.resumption);
      if (history === undefined) throw new Refusal(POLICY, "BidiGenerateContent session not found");
      this.history = history;
    }
    this.#setup = setup;
    this.#watch();
    this.send({ setupComplete: host === "vertex" ? { sessionId: this.#seed.token("session", 24) } : {} });
    this.#offerResumption();
  }

  #checkModel(value: Json | undefined): void {
    const { host, version } = this.#with;
    const name = typeof value === "string" ? value : "";
    const pattern =
      host === "vertex"
        ? /^(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/google\/models\/([^/]+)$/
        : /^models\/([^/]+)$/;
    this.#model = pattern.exec(name)?.[1] ?? "";
    const { fault } = traitsOf(this.#model) ?? {};
    if (fault?.kind === "fail") throw googleFailure(fault.failure, this.#model, host);
    if (MODELS.test(this.#model)) return;
    throw new Refusal(
      POLICY,
      `${name || "The model"} is not found for API version ${version}, or is not supported for bidiGenerateContent. Call ListModels to see the list of available models and their supported methods.`,
    );
  }

  #watch(): void {
    const { activity } = this.setup;
    this.#buffer = bufferAt(this.#rate);
    this.#activity = activity === undefined ? undefined : new VoiceActivity(this.#rate, activity);
  }

  #readContent(body: JsonObject): void {
    refuseUnknown(body, CONTENT, "clientContent");
    this.#interrupt();
    if (body.turns !== undefined && body.turns !== null) {
      for (const { role, parts } of readContents(body.turns)) for (const part of parts) this.history.add(role, part);
    }
    if (body.turnComplete === true) this.#generate(undefined);
  }

  #readInput(body: JsonObject): void {
    refuseUnknown(body, INPUT, "realtimeInput");
    const marks = body.activityStart !== undefined || body.activityEnd !== undefined;
    if (marks && this.#activity !== undefined) {
      const message = "Explicit activity control is not supported when automatic activity detection is enabled.";
      throw new Refusal(INVALID, message);
    }
    if (body.activityStart !== undefined) {
      this.#isMarked = true;
      this.#buffer.clear();
      if (this.setup.interrupts) this.#interrupt();
    }
    const chunks = Array.isArray(body.mediaChunks) ? body.mediaChunks : [];
    for (const [index, chunk] of chunks.entries()) this.#readBlob(chunk, `realtimeInput.mediaChunks[${index}]`);
    if (body.audio !== undefined) this.#readBlob(body.audio, "realtimeInput.audio");
    if (body.video !== undefined) this.#readBlob(body.video, "realtimeInput.video");
    if (typeof body.text === "string") this.#readText(body.text);
    if (body.audioStreamEnd === true && this.#activity?.isSpeaking) this.#endSpeech(undefined);
    if (body.activityEnd === undefined || !this.#isMarked) return;
    this.#isMarked = false;
    this.#endSpeech(undefined);
  }

  #readText(text: string): void {
    if (!this.#isMarked && this.setup.interrupts) this.#interrupt();
    this.#hearUser({ type: "text", text });
    if (!this.#isMarked) this.#generate(undefined);
  }

  #hearUser(part: PromptPart, tokens?: ModalityTokens): void {
    if (this.#turn === undefined) this.history.add("user", part, tokens);
    else this.#later.push({ part, tokens });
  }

  #readBlob(value: Json, path: string): void {
    if (!isObject(value)) throw invalidValue(path, "message", value);
    refuseUnknown(value, BLOB, path);
    const bytes = typeof value.data === "string" ? decodeBase64(value.data) : undefined;
    if (bytes === undefined) throw invalidValue(`${path}.data`, "TYPE_BYTES", value.data ?? null);
    const mimeType = String(value.mimeType ?? "");
    if (/^audio\/pcm\b/i.test(mimeType)) {
      this.#hear(bytes, Number(/rate=(\d+)/i.exec(mimeType)?.[1] ?? DEFAULT_RATE));
      return;
    }
    if (!mimeType.startsWith("image/"))
      throw new Refusal(INVALID, `Request contains an invalid argument: unsupported MIME type ${mimeType}.`);
    try {
      this.#hearUser({ type: "media", media: inspectMedia(bytes, mimeType) });
    } catch (problem) {
      if (!(problem instanceof MediaProblem)) throw problem;
      throw new Refusal(INVALID, "Provided image is not valid.");
    }
  }

  #hear(bytes: Uint8Array, rate: number): void {
    if (bytes.length % 2 !== 0 || rate < 8_000 || rate > 48_000)
      throw new Refusal(INVALID, "Request contains an invalid argument.");
    if (rate !== this.#rate) {
      this.#rate = rate;
      this.#watch();
    }
    if (this.#activity === undefined && !this.#isMarked) return;
    const samples = this.#buffer.append(bytes);
    const activity = this.#activity;
    if (activity === undefined) return;
    for (const { type, atMs } of activity.hear(samples)) {
      if (type === "stopped") this.#endSpeech(atMs);
      else {
        this.#buffer.dropBeforeMs(atMs);
        if (this.setup.interrupts) this.#interrupt();
      }
    }
    // Of silence only the beginning of a word is kept.
    if (!activity.isSpeaking) this.#buffer.dropBeforeMs(this.#buffer.untilMs - 2 * (this.setup.activity?.onsetMs ?? 0));
  }

  /** The user's turn is over: what was said becomes part of the conversation. */
  #endSpeech(untilMs: number | undefined): void {
    this.#activity?.reset();
    const { samples } = this.#buffer.takeUntilMs(untilMs);
    const seconds = samples.length / this.#rate;
    const words = understand(samples, this.#rate);
    if (samples.length > 0)
      this.#hearUser({ type: "text", text: words ?? "" }, { TEXT: 0, AUDIO: soundTokens(seconds), IMAGE: 0 });
    if (this.setup.inputTranscription) {
      for (const text of words?.match(/\s*\S+|\s+$/g) ?? [])
        this.send({ serverContent: { inputTranscription: { text } } });
    }
    this.#generate(words === undefined && seconds > 0 ? { seconds } : undefined);
  }

  #generate(unheard: Unheard | undefined): void {
    if (this.#turn !== undefined) {
      this.#waiting = { unheard };
      return;
    }
    this.#context.countModel(this.#model);
    const turn = new LiveTurn(this, unheard);
    this.#turn = turn;
    void turn.run();
  }

  #interrupt(): void {
    this.#waiting = undefined;
    if (this.#calls.size > 0) {
      const ids = [...this.#calls.keys()];
      this.#calls.clear();
      this.send({ toolCallCancellation: { ids } });
      this.send({ serverContent: { interrupted: true } });
      this.send({ serverContent: { turnComplete: true } });
    }
    this.#turn?.interrupt();
  }

  #readResults(body: JsonObject): void {
    refuseUnknown(body, names("functionResponses"), "toolResponse");
    const responses = Array.isArray(body.functionResponses) ? body.functionResponses : [];
    if (responses.length === 0) throw new Refusal(INVALID, "Request contains an invalid argument.");
    for (const [index, one] of responses.entries()) {
      const path = `toolResponse.functionResponses[${index}]`;
      if (!isObject(one)) throw invalidValue(path, "message", one);
      const id = String(one.id ?? "");
      const name = this.#calls.get(id);
      if (name === undefined) throw new Refusal(POLICY, "Requested entity was not found.");
      if (!isObject(one.response)) throw invalidValue(`${path}.response`, "Struct", one.response ?? null);
      this.#calls.delete(id);
      const said = one.response.output ?? one.response.result;
      const text = typeof said === "string" ? said : JSON.stringify(one.response);
      const failed = one.response.error !== undefined;
      this.history.add("user", { type: "result", id, name, text, media: [], failed });
    }
    if (this.#calls.size === 0) this.#generate(undefined);
  }

  #updateContext(body: JsonObject): void {
    refuseUnknown(body, names("systemInstruction tools"), "contextUpdate");
    const setup = this.setup;
    if (body.systemInstruction !== undefined) setup.system = readSystem(body.systemInstruction);
    if (isObject(body.tools)) setup.tools = readTools(body.tools.tools, this.#with.host).tools;
  }

  #offerResumption(): void {
    const { resumption, isTransparent } = this.setup;
    if (resumption === undefined || this.#isDeaf) return;
    const index = isTransparent ? { lastConsumedClientMessageIndex: String(this.#messages) } : {};
    this.send({
      sessionResumptionUpdate: { newHandle: this.#with.handles.keep(this.history), resumable: true, ...index },
    });
  }
}

function parseMessage(frame: string | Uint8Array): JsonObject {
  let message: unknown;
  try {
    message = JSON.parse(typeof frame === "string" ? frame : new TextDecoder().decode(frame));
  } catch {
    throw new Refusal(INVALID, "Invalid JSON payload received. Unable to parse the message.");
  }
  if (!isObject(message)) throw new Refusal(INVALID, "Request contains an invalid argument.");
  const named = withCamelNames(message);
  if (!isObject(named)) throw new Refusal(INTERNAL, "Internal error encountered.");
  return named;
}
