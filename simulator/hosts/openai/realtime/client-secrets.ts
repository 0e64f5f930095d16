import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { Seed } from "../../../seed.ts";
import { badValue, requireObject, requireString, wrongType } from "../text/check.ts";
import { invalid } from "../text/errors.ts";
import { defaultSettings, showSession, updateSettings } from "./session-settings.ts";

interface Secret {
  expiresAt: number;
  session: JsonObject;
  model: string;
}

const DEFAULT_SECONDS = 600;
const [SHORTEST, LONGEST] = [10, 7_200];
const MAX_SECRETS = 1_000;

/** Keys that open sessions for a short time. */
export class ClientSecrets {
  readonly #nowMs: () => number;
  readonly #secrets = new Map<string, Secret>();
  #made = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Answers `POST realtime/client_secrets`. */
  create(body: Json | undefined): JsonObject {
    const request = isObject(body) ? body : {};
    const given = request.session === undefined ? { type: "realtime" } : requireObject(request.session, "session");
    const model = given.model === undefined ? "gpt-realtime" : requireString(given.model, "session.model");
    const settings = updateSettings(defaultSettings(), given, { model, hasSpoken: false });
    const expiresAt = Math.floor(this.#nowMs() / 1_000) + readSeconds(request.expires_after);
    const seed = new Seed(`client secret ${++this.#made}`);
    const value = `ek_${seed.token("value", 32)}`;
    this.#secrets.set(value, { expiresAt, session: { ...given, model }, model });
    for (const oldest of this.#secrets.keys()) {
      if (this.#secrets.size <= MAX_SECRETS) break;
      this.#secrets.delete(oldest);
    }
    const facts = { id: `sess_${seed.token("session", 21)}`, model, expires_at: 0 };
    return { value, expires_at: expiresAt, session: showSession(settings, facts) };
  }

  /** What a secret opens; undefined if it is unknown or has expired. */
  find(value: string): Secret | undefined {
    const secret = this.#secrets.get(value);
    return secret !== undefined && secret.expiresAt * 1_000 > this.#nowMs() ? secret : undefined;
  }
}

function readSeconds(value: Json | undefined): number {
  if (value === undefined || value === null) return DEFAULT_SECONDS;
  const after = requireObject(value, "expires_after");
  if ((after.anchor ?? "created_at") !== "created_at")
    throw badValue(after.anchor ?? "", ["created_at"], "expires_after.anchor");
  const seconds = after.seconds ?? DEFAULT_SECONDS;
  if (typeof seconds !== "number" || !Number.isInteger(seconds))
    throw wrongType(seconds, "integer", "expires_after.seconds");
  if (seconds >= SHORTEST && seconds <= LONGEST) return seconds;
  const message = `Invalid 'expires_after.seconds': expected a value from ${SHORTEST} to ${LONGEST}, but got ${seconds} instead.`;
  throw invalid(message, "expires_after.seconds", "invalid_value");
}
