import { GatewayError } from "../../canon/error.ts";
import type { LiveEvent, LiveSettingName, LiveSettings, LiveStep } from "../../canon/live.ts";
import { stepOf } from "../session/live-step.ts";
import { mergeSettings } from "../session/merge-settings.ts";
import { encodeContextUpdate, encodeSetup, type SetupScope } from "./encode-setup.ts";
import { frameOf } from "./frame-of.ts";
import { isSameSetting } from "./is-same-setting.ts";
import { unsupportedStep } from "./unsupported-step.ts";

/** What waits for the host to be ready, twice two minutes of speech. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;

/** Settings that concern only the client, or both sides of which the gateway converts. */
const FREE: ReadonlySet<string> = new Set([
  "paths",
  "extras",
  "inputFormat",
  "outputFormat",
  "outputTranscription",
  "truncation",
]);

/** Settings that some hosts change within a session. */
const CONTEXT: ReadonlySet<string> = new Set(["instructions", "tools"]);

/** The settings of a session. The host gets them once, before the first frame that needs them, because it cannot change them later. */
export class HostSetup {
  readonly #scope: SetupScope;
  readonly #changesContext: boolean;
  #settings: LiveSettings = { paths: {}, extras: [] };
  /** The host accepts nothing between its setup and its confirmation. */
  #state: "unsent" | "sent" | "done";
  #waiting: string[] = [];
  #waitingCharacters = 0;
  #toolNames: Readonly<Record<string, string>> = {};

  constructor(scope: SetupScope, { contextUpdates }: { contextUpdates: boolean }) {
    this.#scope = scope;
    this.#changesContext = contextUpdates;
    this.#state = scope.own ? "done" : "unsent";
  }

  get settings(): LiveSettings {
    return this.#settings;
  }

  /** Whether the host finds out when the user speaks. */
  get detects(): boolean {
    const { turnDetection } = this.#settings;
    return turnDetection === undefined || (turnDetection?.responds ?? false);
  }

  /** The client's name of a function. */
  toolName(sent: string): string {
    return Object.hasOwn(this.#toolNames, sent) ? (this.#toolNames[sent] ?? sent) : sent;
  }

  merge(update: LiveSettings): void {
    this.#settings = mergeSettings(this.#settings, update);
  }

  /** Sends frames as soon as the host is ready, and its setup before the first of them. */
  send(frames: readonly string[], events: readonly LiveEvent[] = []): LiveStep {
    if (this.#state === "done") return stepOf(frames, events);
    const first: string[] = [];
    if (this.#state === "unsent") {
      const { setup, toolNames } = encodeSetup(this.#settings, this.#scope);
      this.#toolNames = toolNames;
      this.#state = "sent";
      first.push(frameOf({ setup }));
    }
    for (const frame of frames) this.#waitingCharacters += frame.length;
    if (this.#waitingCharacters > MAX_WAITING_CHARACTERS) {
      const error = new GatewayError("upstream_timeout", "The provider did not begin the session in time.");
      return stepOf(first, [...events, { type: "error", error, fatal: true }]);
    }
    this.#waiting.push(...frames);
    return stepOf(first, events);
  }

  /** The host is ready, and gets the events that were waiting. */
  confirmed(): readonly string[] {
    this.#state = "done";
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingCharacters = 0;
    return waiting;
  }

  change(update: LiveSettings, eventId: string | undefined): LiveStep {
    const isTranscription = update.extras.some(
      ({ keys, value }) => keys.at(-1) === "type" && value === "transcription",
    );
    if (isTranscription)
      return unsupportedStep(
        "session.type",
        "this model answers what it hears and has no sessions that only transcribe",
        eventId,
      );
    const applied = (): LiveStep => {
      this.merge(update);
      return stepOf([], [{ type: "settings-applied", settings: update }]);
    };
    if (this.#state === "unsent") return applied();
    const changed = Object.keys(update).filter(
      (name) => !FREE.has(name) && !isSameSetting(name, update, this.#settings),
    ) as LiveSettingName[];
    const fixed = changed.find((name) => !(this.#changesContext && CONTEXT.has(name)));
    if (fixed !== undefined) {
      const path = update.paths[fixed] ?? fixed;
      const reason =
        "this model's settings cannot be changed once its session has begun; send them before the first audio or response";
      return unsupportedStep(path, reason, eventId);
    }
    if (changed.length === 0) return applied();
    const { setup, toolNames } = encodeContextUpdate(update, this.#scope);
    this.#toolNames = { ...this.#toolNames, ...toolNames };
    const { events } = applied();
    return this.send([frameOf({ contextUpdate: setup })], events);
  }
}
