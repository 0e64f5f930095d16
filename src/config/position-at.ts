import type { DocumentNode, Position } from "./document-node.ts";

/** The position of a field, or of the nearest enclosing node that is in the file. */
export function positionAt(root: DocumentNode, path: readonly (string | number)[]): Position {
  let node = root;
  for (const step of path) {
    const next =
      node.kind === "map"
        ? node.entries.get(String(step))?.node
        : node.kind === "list"
          ? node.items[Number(step)]
          : undefined;
    if (next === undefined) break;
    node = next;
  }
  return node.position;
}
