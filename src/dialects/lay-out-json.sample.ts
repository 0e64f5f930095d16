/** A value in a JSON text: a word of it, or what stands between two brackets, each member with its key where it has one. */
type Node = string | { open: string; close: string; members: { label: string; value: Node }[] };

const LINE = 120;

/**
 * A JSON text over several lines, with everything on one line that fits there. It is laid out as the text that it is: to
 * parse it would lose the order of keys that look like numbers (H05).
 */
export function layOutJson(text: string): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let next = 0;
  const take = () => tokens[next++] ?? "";

  const read = (): Node => {
    const open = take();
    if (open !== "{" && open !== "[") return open;
    const close = open === "{" ? "}" : "]";
    const members: { label: string; value: Node }[] = [];
    while (tokens[next] !== close) {
      if (tokens[next] === ",") take();
      const label = open === "{" ? `${take()}${take()} ` : "";
      members.push({ label, value: read() });
    }
    take();
    return { open, close, members };
  };

  return write(read(), "", 0);
}

function write(node: Node, label: string, depth: number): string {
  const flat = onOneLine(node);
  const indent = "  ".repeat(depth);
  if (typeof node === "string" || indent.length + label.length + flat.length < LINE) return label + flat;
  const lines = node.members.map((member) => `${indent}  ${write(member.value, member.label, depth + 1)}`);
  return `${label}${node.open}\n${lines.join(",\n")}\n${indent}${node.close}`;
}

function onOneLine(node: Node): string {
  if (typeof node === "string") return node;
  if (node.members.length === 0) return node.open + node.close;
  const inner = node.members.map(({ label, value }) => label + onOneLine(value)).join(", ");
  return node.open === "{" ? `{ ${inner} }` : `[${inner}]`;
}
