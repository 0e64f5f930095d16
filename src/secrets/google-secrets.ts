import type { Clock } from "../base/clock.ts";
import { numberAt, objectAt, parseObject, stringAt } from "../base/json.ts";
import type { Authenticator } from "../providers/credentials.ts";
import { serviceAccount } from "../providers/service-account.ts";
import {
  askStore,
  type Environment,
  fieldOf,
  required,
  SecretFailure,
  type SecretStore,
  type WantedSecret,
} from "./secret-store.ts";

const METADATA_PATH = "/computeMetadata/v1/instance/service-accounts/default/token";
/** A token is replaced this long before it expires. */
const MARGIN_MS = 60_000;

/**
 * Google Secret Manager: `projects/P/secrets/S/versions/V`, or only the name `S` in the project of GOOGLE_CLOUD_PROJECT. The token comes
 * from the service account of GOOGLE_APPLICATION_CREDENTIALS, else from the metadata server of the machine.
 */
export class GoogleSecrets implements SecretStore {
  readonly #environment: Environment;
  readonly #clock: Clock;
  #account: { file: string; authenticate: Authenticator } | undefined;
  #metadata: { headers: Record<string, string>; untilMs: number } | undefined;

  constructor(environment: Environment, clock: Clock) {
    this.#environment = environment;
    this.#clock = clock;
  }

  async read({ path, field, signal }: WantedSecret): Promise<string> {
    const base =
      this.#environment["CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER"] || "https://secretmanager.googleapis.com";
    const headers = await this.#headers(signal);
    const answer = await askStore(`${base.replace(/\/+$/, "")}/v1/${this.#version(path)}:access`, { headers }, signal);
    const data = stringAt(objectAt(parseObject(answer), "payload"), "data");
    if (data === undefined) throw new SecretFailure("the store did not answer like Google Secret Manager");
    return fieldOf(Buffer.from(data, "base64").toString("utf8"), field);
  }

  #version(path: string): string {
    const full = path.startsWith("projects/")
      ? path
      : `projects/${required(this.#environment, "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT")}/secrets/${path}`;
    const version = /\/versions\/[^/]+$/.test(full) ? full : `${full}/versions/latest`;
    return version.split("/").map(encodeURIComponent).join("/");
  }

  async #headers(signal: AbortSignal): Promise<Record<string, string>> {
    const file = this.#environment["GOOGLE_APPLICATION_CREDENTIALS"];
    if (!file) return await this.#fromMachine(signal);
    try {
      if (this.#account?.file !== file) this.#account = { file, authenticate: serviceAccount(file, this.#clock) };
      return await this.#account.authenticate();
    } catch (thrown) {
      // These messages name the file or the status, and nothing of the account.
      throw new SecretFailure(thrown instanceof Error ? thrown.message : "the service account cannot sign in");
    }
  }

  async #fromMachine(signal: AbortSignal): Promise<Record<string, string>> {
    if (this.#metadata !== undefined && this.#metadata.untilMs > this.#clock.wallMs()) return this.#metadata.headers;
    const host = this.#environment["GCE_METADATA_HOST"] || "metadata.google.internal";
    const asked = { headers: { "metadata-flavor": "Google" } };
    const body = parseObject(await askStore(`http://${host}${METADATA_PATH}`, asked, signal));
    const token = stringAt(body, "access_token");
    if (token === undefined) throw new SecretFailure("the metadata server issued no token");
    const lifetimeMs = (numberAt(body, "expires_in") ?? 0) * 1000;
    const headers = { authorization: `Bearer ${token}` };
    this.#metadata = { headers, untilMs: this.#clock.wallMs() + lifetimeMs - MARGIN_MS };
    return headers;
  }
}
