import { EVENTS_AROUND_CONTENT } from "./bodies.ts";
import type { Bench } from "./scenario.ts";

/** Ends the streams that are held, and checks that they brought every chunk that was sent. */
export async function finishHeld(
  { load, upstream }: Pick<Bench, "load" | "upstream">,
  { streams, translated = false }: { streams: number; translated?: boolean },
): Promise<void> {
  const sent = await upstream.finish();
  const beside = (await load.ended()) - sent;
  // How many events a translated stream has beside its content depends on the pair; all of the streams have as many.
  const complete = translated ? beside >= 0 && beside % streams === 0 : beside === streams * EVENTS_AROUND_CONTENT;
  if (!complete) throw new Error(`${sent} content chunks were sent, but ${sent + beside} events arrived`);
}
