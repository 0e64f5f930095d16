import type { DocumentNode, MapNode } from "./document-node.ts";
import { withoutPassword } from "./without-password.ts";

/** `${NAME}`, `${file:path}` or `${store:name}`, without a default, which could be the secret. */
const REFERENCE = /\$\{(?:[A-Za-z_]\w*|[a-z][a-z0-9-]*:[^{}]+)\}/g;

/**
 * The values of the file as they are written: references are not expanded, and nothing is filled in. A secret that is not a reference
 * becomes one, named after its path, so that the result is a configuration again once that variable is set.
 */
export const writtenValues = (root: MapNode): Record<string, unknown> => mapOf(root, "");

function mapOf({ entries }: MapNode, path: string): Record<string, unknown> {
  return Object.fromEntries(
    [...entries].map(([name, { node }]) => [name, asWritten(node, path === "" ? name : `${path}_${name}`)]),
  );
}

function asWritten(node: DocumentNode, path: string): unknown {
  if (node.kind === "map") return mapOf(node, path);
  if (node.kind === "list") return node.items.map((item, at) => asWritten(item, `${path}_${at + 1}`));
  const { value, isSecret } = node;
  if (isSecret === true) return isReference(value) ? value : `\${${path.toUpperCase().replaceAll(/\W/g, "_")}}`;
  return typeof value === "string" ? withoutPassword(value) : value;
}

/** References, and nothing between them that could be a part of the secret. */
const isReference = (value: unknown): boolean =>
  typeof value === "string" && value.includes("${") && value.replaceAll(REFERENCE, "") === "";
