/** Formats a value as YAML, the format in which configuration is written. */
export function yamlOf(value: unknown, indent = ""): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return value.map((item) => `\n${indent}- ${nested(item, `${indent}  `)}`).join("");
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return "{}";
    return entries.map(([name, item]) => `\n${indent}${scalar(name)}: ${yamlOf(item, `${indent}  `)}`).join("");
  }
  return scalar(value);
}

/** An object in a list starts on the same line as its dash. */
const nested = (item: unknown, indent: string): string => yamlOf(item, indent).replace(/^\n\s*/, "");

const PLAIN = /^[\w/][\w ./*:@%+-]*$/;
const SPECIAL = /^(?:true|false|null|yes|no|on|off|y|n|0x[\da-f]+|0o[0-7]+|-?[\d.][\d._]*(?:e[+-]?\d*)?)$/i;

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  const isPlain =
    PLAIN.test(value) && !SPECIAL.test(value) && !value.endsWith(":") && !value.endsWith(" ") && !value.includes(": ");
  return isPlain ? value : JSON.stringify(value);
}
