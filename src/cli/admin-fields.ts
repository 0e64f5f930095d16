import { withoutAbsent } from "../base/without-absent.ts";
import { type AnswerCacheSettings, answerCacheView } from "../canon/settings/answer-cache-settings.ts";

interface Fields {
  expiresAtMs?: number | null;
  limits?: object;
  routing?: object;
  /** As the Admin API spells them. */
  partLimits?: object | undefined;
  answerCache?: AnswerCacheSettings | null | undefined;
}

/** The fields of a key or a project as the Admin API spells them: in snake case, and `expiresAtMs` as `expires_at`. */
export function adminFields({ expiresAtMs, limits, routing, partLimits, answerCache, ...rest }: Fields): object {
  return {
    ...snakeKeys(rest),
    ...partLimits,
    ...(answerCache === undefined ? {} : { cache: answerCacheView(answerCache ?? undefined) }),
    ...withoutAbsent({
      limits: limits === undefined ? undefined : snakeKeys(limits),
      routing: routing === undefined ? undefined : snakeKeys(routing),
    }),
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
