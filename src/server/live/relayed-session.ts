import type { Principal } from "../../access/principal.ts";
import type { Billable } from "../../canon/billable.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { LiveClientCodec, LiveCommand, LiveEvent } from "../../canon/live.ts";
import type { Usage } from "../../canon/usage.ts";
import type { LiveDialect, LiveFrameCheck } from "../../dialects/live-dialect.ts";
import { refuseNotes } from "../../relay/attempt/refuse-notes.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { HostConnection, HostEnd, HostReceiver } from "../../relay/live/host-connection.ts";
import { type LiveCaller, laneOf } from "../../relay/live/live-caller.ts";
import { hostSilent } from "../../relay/live/live-item.ts";
import { type OpenedSession, refuseGuarded } from "../../relay/live/open-live.ts";
import { SessionMeter } from "../../relay/live/session-meter.ts";
import { refuseManyValues, refuseRepeatedKeys } from "../../relay/request/read-body.ts";
import { ClientView } from "./client-view.ts";
import { FrameChecks } from "./frame-checks.ts";
import { FAILED, LiveConnection, NORMAL, type OpenedBy, POLICY, tooLargeFrame } from "./live-connection.ts";
import type { LiveSessions } from "./live-sessions.ts";
import type { LiveSocket, RunTurn } from "./live-socket.ts";

/** How a relayed session was opened. */
export interface RelayedOpenedBy extends OpenedBy {
  principal: Principal;
  /** The client as its turns see it. */
  live: LiveCaller;
  dialect: LiveDialect;
  client: LiveClientCodec;
  /** Fields that cannot be honoured exactly are rejected. */
  strict: boolean;
}

/** What is part of a session from its beginning. */
interface SessionStart {
  /** The client's first frame, if its protocol names the model there. */
  readonly first?: string;
  /** Frames as if the client had sent them. */
  readonly commands?: readonly string[];
}

/** How often a host is asked whether it is still there. */
const PING_MS = 15_000;
/**
 * For this long the user's speech is not passed on after a refused turn that the host had begun by itself: each such turn costs
 * something.
 */
const MUTE_MS = 10_000;

/**
 * A live connection that is passed on to a host: natively, frame by frame as they came, or translated. Turns are found in what
 * passes, and each is admitted and billed like a call (decision 0116).
 */
export class RelayedSession extends LiveConnection implements HostReceiver {
  readonly #by: RelayedOpenedBy;
  readonly #opened: OpenedSession;
  readonly #host: HostConnection;
  readonly #meter: SessionMeter;
  readonly #checks: FrameChecks;
  readonly #view: ClientView;
  readonly #isNative: boolean;
  readonly #start: SessionStart;
  /** Frames that wait for an admission before them. */
  readonly #fromClient: (string | Uint8Array)[] = [];
  #clientBytes = 0;
  #isClientBusy = false;
  /** Frames that wait for an admission or a receipt before them. */
  readonly #fromHost: string[] = [];
  #isHostBusy = false;
  /** The client reads more slowly than the host sends. */
  #isHostPaused = false;
  #mutedUntilMs = 0;
  #pingedAtMs: number;
  #isLeft = false;

  constructor(
    by: RelayedOpenedBy,
    opened: OpenedSession,
    { start = {}, gateway, sessions }: { start?: SessionStart; gateway: Gateway; sessions: LiveSessions },
  ) {
    super(by, by.principal, gateway, sessions);
    this.#by = by;
    this.#opened = opened;
    this.#host = opened.host;
    this.#isNative = laneOf(by.live, this.#host.target) === "native";
    this.#start = start;
    this.#meter = new SessionMeter(by.live, opened, gateway, { begun: () => this.begins(), over: () => this.over() });
    this.#checks = new FrameChecks(by.live, this.#host.target, gateway);
    const { id, live, dialect, client } = by;
    const write = (frame: string) => this.#write(frame);
    this.#view = new ClientView({ id, live, dialect, client, meter: this.#meter, host: this.#host, write });
    this.#pingedAtMs = gateway.clock.nowMs();
  }

  protected get running(): number {
    return this.#meter.open;
  }

  /** Passes on what the host has sent so far. */
  override opened(socket: LiveSocket, run: RunTurn): void {
    super.opened(socket, run);
    const { frames, events } = this.#opened;
    const { first, commands = [] } = this.#start;
    if (first !== undefined) this.#begin(first);
    for (const event of events) {
      this.#meter.learn(event);
      if (this.#isNative) this.#view.inform(event);
    }
    if (this.#isNative) for (const frame of frames) this.#view.pass(frame, events);
    else for (const event of events) this.#view.show(event);
    for (const command of commands) this.received(command);
    this.#host.listen(this);
  }

  /** The frame with which the client has begun. A host of the same protocol has it already. */
  #begin(first: string): void {
    if (!this.#isNative) {
      this.received(first);
      return;
    }
    for (const command of this.#by.client.decode(first)) this.#host.codec.follow(command);
    this.#noteSettings(first);
  }

  #noteSettings(text: string): void {
    this.#meter.context.settingsCharacters = text.length;
    const { billables } = this.#by.dialect.check(text) ?? {};
    if (billables !== undefined) this.#meter.billables = this.#checks.ofUnknownPrice(billables);
  }

  /** The handshake of the client has failed. */
  abandon(): void {
    this.#host.close();
  }

  /** A mistake of the gateway ends this session and nothing else. */
  #guard(work: () => Promise<void> | undefined): void {
    const broke = (thrown: unknown): void => {
      this.gateway.log.error({ err: thrown, session: this.by.id }, "internal error in a session");
      this.#lose(asGatewayError(thrown), FAILED);
    };
    try {
      void work()?.catch(broke);
    } catch (thrown) {
      broke(thrown);
    }
  }

  // From the client:

  protected received(frame: string | Uint8Array): void {
    if (this.#isClientBusy) {
      this.#clientBytes += frame.length;
      if (this.#clientBytes > this.limits.inFlightBytes) this.#lose(tooMuchWaiting(), FAILED);
      else this.#fromClient.push(frame);
      return;
    }
    this.#guard(() => {
      const work = this.#take(frame);
      return work && this.#takeRest(work);
    });
  }

  async #takeRest(first: Promise<void>): Promise<void> {
    this.#isClientBusy = true;
    await first;
    for (let frame = this.#fromClient.shift(); frame !== undefined; frame = this.#fromClient.shift()) {
      this.#clientBytes -= frame.length;
      if (!this.isClosed) await this.#take(frame);
    }
    this.#isClientBusy = false;
  }

  /** Handles one frame. Returns a promise only if a turn must be admitted before it is sent. */
  #take(frame: string | Uint8Array): Promise<void> | undefined {
    this.used();
    const { maxFrameBytes } = this.limits;
    if (frame.length > maxFrameBytes) {
      this.#refuse(tooLargeFrame(maxFrameBytes), undefined, this.#by.dialect.audioBytesIn(frame) === undefined);
      return undefined;
    }
    const text = typeof frame === "string" ? frame : Buffer.from(frame).toString();
    const audioBytes = this.#by.dialect.audioBytesIn(frame);
    if (audioBytes === undefined) return this.#takeText(text);
    this.#takeAudio(text, audioBytes);
    return undefined;
  }

  #takeAudio(text: string, bytes: number): void {
    if (this.gateway.clock.nowMs() < this.#mutedUntilMs || this.#isHostSlow()) return;
    this.#meter.context.addAudio(bytes, this.#meter.settings.inputFormat ?? this.#by.dialect.audio.input);
    if (this.#isNative) this.#host.send([text]);
    else for (const command of this.#by.client.decode(text)) this.#carry(command);
  }

  /** A host that does not read is given up. */
  #isHostSlow(): boolean {
    if (this.#host.waitingBytes <= this.limits.inFlightBytes) return false;
    this.#lose(new GatewayError("upstream_failed", "The provider has stopped reading from the connection."), FAILED);
    return true;
  }

  #takeText(text: string): Promise<void> | undefined {
    let commands: readonly LiveCommand[] = [];
    let check: LiveFrameCheck | undefined;
    try {
      refuseManyValues(text, this.gateway.snapshot);
      commands = this.#by.client.decode(text);
      for (const command of commands) if (command.type === "invalid") throw command.error;
      refuseRepeatedKeys(text);
      check = this.#by.dialect.check(text);
      this.#checks.check(check, commands);
    } catch (thrown) {
      const asksTurn = commands.some((command) => command.type === "respond" || isInvalidTurn(command));
      this.#refuse(thrown, eventIdIn(text), asksTurn);
      return undefined;
    }
    if (commands.some(({ type }) => type === "respond"))
      return this.#ask(text, commands, this.#checks.ofUnknownPrice(check?.billables ?? []));
    this.#forward(text, commands);
    return undefined;
  }

  /** A frame that begins a turn. */
  async #ask(text: string, commands: readonly LiveCommand[], billables: readonly Billable[]): Promise<void> {
    const respond = commands.find((command) => command.type === "respond");
    const eventId = respond?.eventId;
    try {
      if (this.ending !== undefined) throw this.ending.why;
      const maxOutputTokens = respond?.request?.settings?.maxOutputTokens;
      this.#meter.context.addText(text.length);
      await this.#meter.ask({ sent: text, eventId, billables, maxOutputTokens });
    } catch (thrown) {
      this.#refuse(thrown, eventId, true);
      // What came in the same frame is part of the conversation, if it can be sent alone.
      if (!this.#isNative) for (const command of commands) if (command.type !== "respond") this.#carry(command);
      return;
    }
    if (this.#isLeft) {
      void this.#meter.endAll({ outcome: "client_gone", whole: false, usage: undefined });
      return;
    }
    this.#mutedUntilMs = 0;
    this.#forward(text, commands, true);
  }

  #forward(text: string, commands: readonly LiveCommand[], isCounted = false): void {
    if (this.isClosed || this.#isHostSlow()) return;
    const { context } = this.#meter;
    const { dialect } = this.#by;
    const changesSettings = commands.some(({ type }) => type === "settings");
    if (changesSettings) this.#noteSettings(text);
    else if (!isCounted) context.addText(text.length);
    if (!this.#isNative) {
      for (const command of commands) this.#carry(command);
      return;
    }
    for (const command of commands) this.#host.codec.follow(command);
    this.#host.send([dialect.nativeCommand(text, this.#host.model)]);
  }

  /** Sends what a command means to the host, in a translated session. */
  #carry(command: LiveCommand): void {
    try {
      if (command.type === "unknown") throw unknownEvent(command.name);
      if (command.type === "invalid") throw command.error;
      const { codec } = this.#host;
      const step = codec.encode(command);
      const notes = codec.takeNotes();
      if (notes.length > 0 && (this.#by.strict || this.opener.strict)) refuseNotes(notes);
      this.#meter.note(notes);
      this.#host.send(step.frames);
      // The host is asked later, if at all: the turn is then admitted when it begins.
      if (command.type === "respond" && step.frames.length + step.events.length === 0) this.#meter.withdraw();
      this.#guard(() => this.#followAll(step.events));
    } catch (thrown) {
      this.#refuse(thrown, command.eventId, command.type === "respond" || isInvalidTurn(command));
    }
  }

  // From the host:

  hostFrame(frame: string): void {
    if (this.#isHostBusy) {
      this.#fromHost.push(frame);
      return;
    }
    this.#guard(() => {
      const work = this.#hear(frame);
      return work && this.#hearRest(work);
    });
  }

  async #hearRest(first: Promise<void>): Promise<void> {
    this.#isHostBusy = true;
    // Frames that arrive in the meantime are bounded, because the host must wait.
    this.#host.pause();
    await first;
    for (let frame = this.#fromHost.shift(); frame !== undefined; frame = this.#fromHost.shift())
      await this.#hear(frame);
    this.#isHostBusy = false;
    if (!this.#isHostPaused) this.#host.resume();
  }

  /** Handles one frame. Returns a promise only if a turn must be admitted or settled before the frame is passed on. */
  #hear(frame: string): Promise<void> | undefined {
    const { codec } = this.#host;
    if (!this.#isNative) {
      const { events } = this.#host.carry(codec.decode(frame));
      this.#meter.note(codec.takeNotes());
      return this.#followAll(events);
    }
    const audioBytes = this.#by.dialect.audioBytesOut(frame);
    const events = audioBytes === undefined ? codec.decode(frame).events : codec.passAudio(audioBytes);
    if (audioBytes !== undefined && events.length === 0) {
      this.#heardAudio(frame, audioBytes);
      return undefined;
    }
    const passOn = () => {
      if (audioBytes !== undefined) this.#heardAudio(frame, audioBytes, events);
      else if (!this.#view.isHidden(events)) this.#view.pass(frame, events);
      this.#view.forget(events);
      // The end of the last turn has been passed on.
      this.closeAfterLast();
    };
    const work = this.#followAll(events);
    if (work !== undefined) return work.then(passOn);
    passOn();
    return undefined;
  }

  #heardAudio(frame: string, bytes: number, events: readonly LiveEvent[] = NO_EVENTS): void {
    const turn = this.#meter.current;
    turn?.sawAudio(bytes, this.#meter.settings.outputFormat ?? this.#by.dialect.audio.output);
    if (turn?.refusal === undefined) this.#view.pass(frame, events);
  }

  /** Follows events in order. Returns a promise only if a turn must be admitted or settled first. */
  #followAll(events: readonly LiveEvent[], at = 0): Promise<void> | undefined {
    for (let index = at; index < events.length; index++) {
      const event = events[index];
      if (event === undefined) continue;
      const isNew = !this.#meter.repeats(event);
      const work = isNew ? this.#follow(event) : this.#repeated(event);
      if (work !== undefined) {
        return work.then(() => {
          if (isNew) this.#followed(event);
          return this.#followAll(events, index + 1);
        });
      }
      if (isNew) this.#followed(event);
    }
    return undefined;
  }

  /** For the client, too, the item has ended already. */
  #repeated(event: LiveEvent): Promise<void> | undefined {
    const { id, usage }: { id?: string; usage?: Usage } = "usage" in event && "id" in event ? event : {};
    return id === undefined || usage === undefined ? undefined : this.#meter.used({ id, usage });
  }

  /** Shows the event to the client of a translated session. The frame of a native one is passed on afterwards. */
  #followed(event: LiveEvent): void {
    if (this.#isNative) {
      this.#view.inform(event);
      return;
    }
    this.#view.show(event);
    this.#view.forget([event]);
    this.closeAfterLast();
  }

  #follow(event: LiveEvent): Promise<void> | undefined {
    this.#meter.learn(event);
    switch (event.type) {
      case "turn-began":
      case "work-began":
        return this.#enter(event);
      case "turn-ended":
        return this.#meter.closed(event);
      case "work-ended": {
        const opening = this.#enter(event);
        return opening === undefined ? this.#meter.closed(event) : opening.then(() => this.#meter.closed(event));
      }
      case "used":
        return this.#meter.used(event);
      case "error":
        return event.fatal ? this.#lostAt(event.error) : this.#meter.failed(event);
      default:
        this.#meter.follow(event);
        return undefined;
    }
  }

  /** The host has begun something, by itself or because it was asked to. */
  #enter(event: Parameters<SessionMeter["opened"]>[0]): Promise<void> | undefined {
    const isTurn = event.type === "turn-began";
    const opening = this.#meter.opened(event, isTurn ? this.ending?.why : undefined);
    if (opening === undefined) {
      if (isTurn && this.#isLeft) this.#cancelAtHost(event.id);
      return undefined;
    }
    return opening.then(
      (refusal) => refusal && this.#refused(event.id, refusal, isTurn),
      (thrown: unknown) => this.#lose(asGatewayError(thrown), FAILED),
    );
  }

  /** The client sees nothing of what was refused but the refusal. */
  #refused(id: string, refusal: GatewayError, isTurn: boolean): void {
    this.#view.hide(id);
    this.#tell(refusal, undefined, isTurn);
    const { retryAfterSeconds } = refusal;
    this.#mutedUntilMs =
      this.gateway.clock.nowMs() + (retryAfterSeconds === undefined ? MUTE_MS : retryAfterSeconds * 1000);
    if (isTurn && !this.#cancelAtHost(id)) this.#lose(refusal, this.#by.dialect.close(refusal).code);
  }

  /** False if the host has no way to end the turn. */
  #cancelAtHost(turnId: string): boolean {
    const { frames, events } = this.#host.carry(this.#host.codec.encode({ type: "cancel", turnId }));
    this.#guard(() => this.#followAll(events));
    return frames.length > 0 || events.some(({ type }) => type === "turn-ended");
  }

  hostEnded({ failure, close }: HostEnd): void {
    if (this.#isLeft || this.isClosed) {
      this.#finish();
      return;
    }
    // The codes are those of the client's own protocol only if the host speaks it.
    const passedOn = this.#isNative ? close : undefined;
    const reason = passedOn && this.#host.target.provider.redact(passedOn.reason);
    if (this.#meter.turns.length > 0 || passedOn === undefined)
      this.#lose(failure, passedOn === undefined || passedOn.code === NORMAL ? FAILED : passedOn.code, reason);
    else this.closeWith(passedOn.code, reason ?? "");
  }

  /** What the host says cannot be read, or is that it gives up. */
  #lostAt(error: GatewayError): undefined {
    this.#lose(error, FAILED);
    this.#host.terminate();
    return undefined;
  }

  /** The session cannot continue: turns in progress end with the error. */
  #lose(error: GatewayError, code: number, reason?: string): void {
    if (this.isClosed) return;
    const shown = this.#host.target.provider.redactError(error);
    for (const frame of this.#by.client.encodeCut(shown)) this.#write(frame);
    void this.#meter.endAll({ outcome: shown.kind, whole: false, usage: undefined, error: shown });
    this.closeWith(code, reason || shown.message);
    this.#host.close();
  }

  // To the client:

  #write(frame: string): void {
    if (this.isClosed) return;
    this.#view.hasSent = true;
    if (this.sendFrame(frame) || this.#isHostPaused) return;
    this.#isHostPaused = true;
    this.#host.pause();
  }

  protected override readAgain(): void {
    if (!this.#isHostPaused) return;
    this.#isHostPaused = false;
    for (const turn of this.#meter.turns) turn.heard();
    if (!this.#isHostBusy) this.#host.resume();
  }

  /** A refusal is an error event, and the connection stays open. */
  #refuse(thrown: unknown, eventId: string | undefined, asksTurn: boolean): void {
    this.#tell(thrown, eventId, asksTurn || this.#meter.turns.length === 0);
  }

  #tell(thrown: unknown, eventId: string | undefined, endsTurn: boolean): void {
    for (const frame of this.#by.client.encodeError(this.noteRefusal(thrown), eventId, endsTurn)) this.#write(frame);
  }

  protected tell(why: GatewayError): void {
    for (const frame of this.#by.client.encodeError(why, undefined, this.#meter.turns.length === 0)) this.#write(frame);
  }

  protected override tellDraining(_why: GatewayError, timeLeftMs: number): void {
    for (const frame of this.#by.client.encodeGoingAway(timeLeftMs)) this.#write(frame);
  }

  override check(nowMs: number): void {
    super.check(nowMs);
    if (this.isClosed) return;
    if (this.ending === undefined) {
      try {
        refuseGuarded(this.#by.live, this.gateway);
      } catch (refusal) {
        // A guard that was added meanwhile refuses the session, like a new one.
        this.end(asGatewayError(refusal), POLICY);
      }
    }
    this.#guard(async () => {
      const refusal = await this.#meter.passTime(nowMs);
      if (refusal !== undefined) this.end(refusal, POLICY);
    });
    if (nowMs - this.#pingedAtMs >= PING_MS) {
      this.#pingedAtMs = nowMs;
      this.#host.ping();
    }
    // While the gateway waits for its client, silence is not the host's fault.
    if (this.#isHostPaused) return;
    const { firstByte, idle } = this.#host.target.provider.timeoutMs;
    this.#meter.expire(nowMs, firstByte);
    for (const turn of this.#meter.turns) {
      const limitMs = turn.hasContent ? idle : firstByte;
      if (nowMs - turn.heardAtMs < limitMs) continue;
      this.#lose(hostSilent(limitMs), FAILED);
      return;
    }
  }

  /** The client is gone. What the host has generated is billed, and it reports that for a moment longer (H26). */
  protected left(): void {
    this.#isLeft = true;
    this.#meter.isLeft = true;
    this.#fromClient.length = 0;
    const { gateway } = this;
    if (this.running === 0 || gateway.closing || !this.#host.isOpen) {
      this.#finish();
      return;
    }
    for (const { id } of this.#meter.turns) if (id !== undefined) this.#cancelAtHost(id);
    gateway.clock.after(gateway.timings.readOnMs, () => this.#finish());
  }

  /** The connection is not closed before the end of the turn has been passed on. */
  protected override over(): void {
    this.used();
    if (this.#isLeft && this.running === 0) this.#finish();
  }

  #finish(): void {
    this.#host.close();
    void this.#meter.endAll({ outcome: "client_gone", whole: false, usage: undefined });
  }
}

const NO_EVENTS: readonly LiveEvent[] = [];

const isInvalidTurn = (command: LiveCommand): boolean => command.type === "invalid" && command.asksTurn === true;

/** The client's id of an event that could not be read. */
const eventIdIn = (text: string): string | undefined => /"event_id"\s*:\s*"([\w.-]{1,100})"/.exec(text)?.[1];

const unknownEvent = (name: string) =>
  new GatewayError(
    "unsupported_parameter",
    `The event ${name.slice(0, 100)} has no counterpart in the protocol of the model's provider.`,
    { path: "type" },
  );

const tooMuchWaiting = () =>
  new GatewayError("rate_limited", "Too much was sent while a turn was being admitted. Open a new connection.");
