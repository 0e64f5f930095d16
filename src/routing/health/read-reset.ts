const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
/** Such as 6m0s, 1.5s or 120ms. */
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[dhms]))+$/;
const STEP = /(\d+(?:\.\d+)?)(ms|[dhms])/g;
const SECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;
/** Such as 2026-01-31T12:00:00Z. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds until a limit is renewed. Hosts write a duration, seconds or a timestamp. */
export function readReset(text: string | undefined, wallMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (SECONDS.test(text)) return Number(text) * 1000;
  if (MOMENT.test(text)) {
    const ms = Date.parse(text) - wallMs;
    return Number.isNaN(ms) ? undefined : Math.max(0, ms);
  }
  if (!DURATION.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit = ""] of text.matchAll(STEP)) ms += Number(amount) * (UNIT_MS[unit] ?? 0);
  return ms;
}
