interface Fields {
  expiresAtMs?: number | null;
  limits?: object;
  routing?: object;
}

/** A key's fields as the Admin API spells them: `expiresAtMs` is `expires_at`, and limits and routing have the names of files. */
export function inFileNames({ expiresAtMs, limits, routing, ...rest }: Fields): object {
  return {
    ...rest,
    ...(limits === undefined ? {} : { limits: snakeKeys(limits) }),
    ...(routing === undefined ? {} : { routing: snakeKeys(routing) }),
    ...(expiresAtMs === undefined
      ? {}
      : { expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString() }),
  };
}

const snakeKeys = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
