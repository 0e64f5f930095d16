import type { CheckContext } from "./check-context.ts";
import { checkManyTexts, checkTexts } from "./check-texts.ts";
import type { CheckedText } from "./checked-text.ts";
import type { Guard } from "./guard.ts";
import { JsonDocument } from "./json-document.ts";

/** Whether any of the guards may change or stop what they see. */
export const actsOn = (guards: readonly Guard[]): boolean =>
  guards.some(({ settings }) => settings.action !== "observe");

/** Shows complete texts to all guards in order, each after the one before. Returns a promise only if one of them asks outside. */
export function checkAll(
  guards: readonly Guard[],
  texts: readonly CheckedText[],
  context: CheckContext,
  from = 0,
): Promise<void> | undefined {
  for (let index = from; index < guards.length; index++) {
    const guard = guards[index];
    if (guard === undefined) break;
    const waits = isMuch(texts) ? checkManyTexts(guard, texts, context) : checkTexts(guard, texts, context);
    if (waits !== undefined) return waits.then(() => checkAll(guards, texts, context, index + 1));
  }
  return undefined;
}

/** Less is searched at once. */
const MUCH = 64 * 1024;

const isMuch = (texts: readonly CheckedText[]): boolean =>
  texts.reduce((sum, { value }) => sum + value.length, 0) > MUCH;

/** A JSON text with its texts as the guards leave them. */
export async function checkJson(guards: readonly Guard[], json: string, context: CheckContext): Promise<JsonDocument> {
  const document = await JsonDocument.read(json, { dropsTokens: context.tally.on === "response" && actsOn(guards) });
  await checkAll(guards, document.texts, context);
  document.unseal();
  return document;
}
