const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
const LENGTH = 22;
const POOL = LENGTH * 512;

const pool = new Uint8Array(POOL);
let used = POOL;

/** 22 characters, 132 random bits: unguessable, and cheap because the random bytes are drawn in bulk. */
export function makeId(): string {
  if (used + LENGTH > POOL) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  let id = "";
  for (const end = used + LENGTH; used < end; used++) id += ALPHABET.charAt((pool[used] ?? 0) & 63);
  return id;
}
