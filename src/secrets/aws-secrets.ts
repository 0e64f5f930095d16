import type { Clock } from "../base/clock.ts";
import { parseObject, stringAt } from "../base/json.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { signRequest } from "../providers/sigv4.ts";
import {
  askStore,
  type Environment,
  fieldOf,
  required,
  SecretFailure,
  type SecretStore,
  type WantedSecret,
} from "./secret-store.ts";

const SERVICE = "secretsmanager";

/** AWS Secrets Manager, by the name or the ARN of a secret. A field of a JSON secret follows `#`. */
export class AwsSecrets implements SecretStore {
  readonly #environment: Environment;
  readonly #clock: Clock;

  constructor(environment: Environment, clock: Clock) {
    this.#environment = environment;
    this.#clock = clock;
  }

  async read({ path, field, signal }: WantedSecret): Promise<string> {
    const ofArn = /^arn:[^:]*:secretsmanager:([^:]+):/.exec(path)?.[1];
    const region = ofArn ?? required(this.#environment, "AWS_REGION", "AWS_DEFAULT_REGION");
    const endpoint = this.#environment["AWS_ENDPOINT_URL_SECRETS_MANAGER"] || this.#environment["AWS_ENDPOINT_URL"];
    const url = endpoint ? `${endpoint.replace(/\/+$/, "")}/` : `https://${SERVICE}.${region}.amazonaws.com/`;
    if (!URL.canParse(url)) throw new SecretFailure(`${url} is not a URL`);
    const credentials = withoutAbsent({
      accessKeyId: required(this.#environment, "AWS_ACCESS_KEY_ID"),
      secretAccessKey: required(this.#environment, "AWS_SECRET_ACCESS_KEY"),
      sessionToken: this.#environment["AWS_SESSION_TOKEN"] || undefined,
    });
    const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": `${SERVICE}.GetSecretValue` };
    const request = { method: "POST", url, headers, body: JSON.stringify({ SecretId: path }) };
    const signed = signRequest(request, credentials, { region, service: SERVICE }, new Date(this.#clock.wallMs()));
    const answer = await askStore(
      url,
      { method: "POST", headers: { ...headers, ...signed }, body: request.body },
      signal,
    );
    const body = parseObject(answer);
    const text = stringAt(body, "SecretString");
    if (text !== undefined) return fieldOf(text, field);
    const binary = stringAt(body, "SecretBinary");
    if (binary === undefined) throw new SecretFailure("the store did not answer like AWS Secrets Manager");
    return fieldOf(Buffer.from(binary, "base64").toString("utf8"), field);
  }
}
