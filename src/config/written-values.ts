import { isObject } from "../base/json.ts";
import { Secret } from "../base/secret.ts";
import type { DocumentNode, MapNode } from "./document-node.ts";
import { withoutPassword } from "./without-password.ts";

/** `${NAME}`, `${file:path}` or `${store:name}`, without a default, which could be the secret. */
const REFERENCE = /\$\{(?:[A-Za-z_]\w*|[a-z][a-z0-9-]*:[^{}]+)\}/g;

/**
 * The values of the file as they are written: references are not expanded, and nothing is filled in. A secret that is not a reference
 * becomes one, named after its path, so that the result is a configuration again once that variable is set. A text is a secret if
 * its field is, or if it contains what the configuration has made a secret of, wherever that is.
 */
export function writtenValues(root: MapNode, config: object): Record<string, unknown> {
  const secrets = [...secretsIn(config)];
  const hasSecret = (text: string) => secrets.some((secret) => text.includes(secret));
  return asMap(root, "", hasSecret);
}

type HasSecret = (text: string) => boolean;

function asMap({ entries }: MapNode, path: string, hasSecret: HasSecret): Record<string, unknown> {
  return Object.fromEntries(
    [...entries].map(([name, { node }]) => [name, asWritten(node, path === "" ? name : `${path}_${name}`, hasSecret)]),
  );
}

function asWritten(node: DocumentNode, path: string, hasSecret: HasSecret): unknown {
  if (node.kind === "map") return asMap(node, path, hasSecret);
  if (node.kind === "list") return node.items.map((item, at) => asWritten(item, `${path}_${at + 1}`, hasSecret));
  const { value, isSecret } = node;
  if (isSecret !== true && !hasSecret(String(value))) return typeof value === "string" ? withoutPassword(value) : value;
  return isReference(value) ? value : `\${${path.toUpperCase().replaceAll(/\W/g, "_")}}`;
}

/** References, and nothing between them that could be a part of the secret. */
const isReference = (value: unknown): boolean =>
  typeof value === "string" && value.includes("${") && value.replaceAll(REFERENCE, "") === "";

function* secretsIn(value: unknown): Generator<string> {
  if (value instanceof Secret) {
    const text = value.reveal();
    if (text !== "") yield text;
  } else if (Array.isArray(value)) for (const item of value) yield* secretsIn(item);
  else if (value instanceof Map) for (const item of value.values()) yield* secretsIn(item);
  else if (isObject(value)) for (const item of Object.values(value)) yield* secretsIn(item);
}
