import { isObject, parseObject } from "../base/json.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where secrets are kept. */
export interface SecretStore {
  /** Throws a `SecretFailure` with the reason if there is one that operators may see. */
  read(wanted: WantedSecret): Promise<string>;
}

export interface WantedSecret {
  path: string;
  /** The field, after `#`. */
  field: string | undefined;
  signal: AbortSignal;
}

/** Why a secret cannot be read. The message contains nothing of what a store has answered. */
export class SecretFailure extends Error {}

/** No secret is longer, and a wrong address may answer with anything. */
const MAX_BYTES = 1024 * 1024;

/** Asks a store, and returns the body of a successful answer. */
export async function askStore(url: string, init: RequestInit, signal: AbortSignal): Promise<string> {
  if (!URL.canParse(url)) throw new SecretFailure(`${url} is not a URL`);
  const answer = await fetch(url, { ...init, redirect: "manual", signal });
  if (answer.ok) return await textOf(answer);
  await answer.body?.cancel();
  throw new SecretFailure(REASONS[answer.status] ?? `the store answered with status ${answer.status}`);
}

const REASONS: Readonly<Record<number, string>> = {
  400: "the store rejects the request (400): the name may be wrong or unknown",
  401: "the store does not accept the credentials (401)",
  403: "the store denies access (403)",
  404: "the store has no such secret (404)",
  503: "the store is sealed or unavailable (503)",
};

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new SecretFailure("the answer of the store is larger than any secret");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** A setting from the environment, or the failure that names it. */
export function required(environment: Environment, ...names: string[]): string {
  for (const name of names) if (environment[name]) return environment[name];
  throw new SecretFailure(`${names.join(" or ")} is not set`);
}

/** The whole secret, or a field of a JSON object. */
export function fieldOf(secret: string, field: string | undefined): string {
  if (field === undefined) return nonEmpty(secret);
  const object = parseObject(secret);
  if (object === undefined) throw new SecretFailure("the secret is not a JSON object, so it has no fields");
  return textField(object, field);
}

/** A field of a secret that has several. */
export function textField(object: unknown, field: string): string {
  const value = isObject(object) && Object.hasOwn(object, field) ? object[field] : undefined;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") throw new SecretFailure(`the secret has no text field ${field}`);
  return nonEmpty(value);
}

function nonEmpty(value: string): string {
  const text = value.replace(/\r?\n$/, "");
  if (text === "") throw new SecretFailure("the secret is empty");
  return text;
}
