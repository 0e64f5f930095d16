import type { Random } from "../base/sources.ts";

export const KEY_PREFIX = "sk-trv-";
/** The prefix of admin secrets created at the first start. */
export const ADMIN_SECRET_PREFIX = "trv-admin-";

/** 256 random bits, in base64url. */
const SECRET_BYTES = 32;
const SECRET_CHARACTERS = 43;

interface NewApiKey {
  /** Shown once; only the hash is stored. */
  key: string;
  hash: string;
  /** The last four characters, so that people can distinguish keys. */
  hint: string;
}

export function newApiKey({ bytes }: Pick<Random, "bytes">): NewApiKey {
  const key = KEY_PREFIX + bytes(SECRET_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
  return { key, hash: hashKey(key), hint: hintOf(key) };
}

const HINT_CHARACTERS = 4;
/** A hint would reveal too much of a shorter key, which a configuration may contain. */
const SHORTEST_HINTED = 20;

export const hintOf = (key: string): string => (key.length < SHORTEST_HINTED ? "" : key.slice(-HINT_CHARACTERS));

/** Always the whole digest: shortened ones could collide (S06). */
export function hashKey(key: string): string {
  return Bun.SHA256.hash(key, "hex");
}

export function isWellFormedKey(key: string): boolean {
  return (
    key.length === KEY_PREFIX.length + SECRET_CHARACTERS && key.startsWith(KEY_PREFIX) && /^[A-Za-z0-9_-]+$/.test(key)
  );
}
