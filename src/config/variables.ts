/** `${NAME}`, `${NAME:-default}`, `${file:path}` and `${store:name}` in the texts of a configuration file. `$$` is a plain dollar sign. */

/** The values of references. */
export interface ReferenceSource {
  environment: Readonly<Record<string, string | undefined>>;
  /** The text of a file; undefined where it cannot be read. */
  readFile: (path: string) => string | undefined;
  /** A secret by its store and name, such as `store:name`. */
  readSecret?: (reference: string) => SecretReading;
}

/** A secret, or why it cannot be read. */
export type SecretReading = { value: string } | { problem: string };

interface Expansion {
  text: string;
  /** The text has at least one reference. */
  used: boolean;
  /** Names without a value and without a default. */
  unset: string[];
  /** Files that cannot be read. */
  unread: string[];
  /** Secrets that cannot be read, each with the reason. */
  missing: string[];
  /** The text contains a secret of a store. */
  hasSecret: boolean;
  /** The text is one `${NAME}` and nothing else. */
  whole: boolean;
  /** There is a `${` that does not open a reference. */
  malformed: boolean;
}

const REFERENCE = /\$\$|\$\{file:([^{}]+)\}|\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}|\$\{([a-z][a-z0-9-]*:[^{}]+)\}|\$\{/g;
const WHOLE = /^\$\{[A-Za-z_]\w*\}$/;

/** The secrets of stores that a text refers to. */
export function secretReferences(text: string): string[] {
  return [...new Set([...text.matchAll(REFERENCE)].flatMap(([, , , , secret]) => secret ?? []))];
}

export function expandReferences(text: string, { environment, readFile, readSecret }: ReferenceSource): Expansion {
  const whole = WHOLE.test(text);
  const unset: string[] = [];
  const unread: string[] = [];
  const missing: string[] = [];
  let hasSecret = false;
  let used = false;
  let malformed = false;
  const expanded = text.replace(
    REFERENCE,
    (found: string, path?: string, name?: string, fallback?: string, secret?: string) => {
      if (found === "$$") return "$";
      if (path !== undefined) {
        used = true;
        const content = readFile(path);
        if (content === undefined) unread.push(path);
        return content ?? "";
      }
      if (secret !== undefined) {
        used = true;
        hasSecret = true;
        const reading = readSecret?.(secret) ?? { problem: "no secret store is in use here" };
        if ("value" in reading) return reading.value;
        missing.push(`${secret}, which cannot be read: ${reading.problem}`);
        return "";
      }
      if (name === undefined) {
        malformed = true;
        return found;
      }
      used = true;
      const value = environment[name];
      if (fallback !== undefined) return value || fallback;
      if (value === undefined || (whole && value === "")) unset.push(name);
      return value ?? "";
    },
  );
  return { text: expanded, used, unset, unread, missing, hasSecret, whole, malformed };
}

/**
 * In YAML, braces and commas end a plain text inside `{ … }`, so `{ api_key: ${KEY} }` would not parse. Each character of a
 * reference is therefore mapped to a private range before parsing, which keeps all positions, and restored afterwards.
 */
const PRIVATE = 0xe000;
const HIDEABLE = /\$\$|\$\{[^{}\r\n]*\}/g;
const HIDDEN = /\$\ue07b([^\ue07d]*)\ue07d/g;

export function hideReferences(source: string): string {
  return source.replace(HIDEABLE, (found) => (found === "$$" ? found : `$${found.slice(1).replace(/[^\w]/g, hide)}`));
}

export function restoreReferences(text: string): string {
  return text.replace(HIDDEN, (_, inner: string) => `\${${inner.replace(/[\ue000-\ue07f]/g, restore)}}`);
}

function hide(character: string): string {
  const code = character.charCodeAt(0);
  return code < 128 ? String.fromCharCode(PRIVATE + code) : character;
}

function restore(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) - PRIVATE);
}
