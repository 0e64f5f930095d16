import type { Naming } from "../../catalogue/catalogue.ts";
import type { TextTarget } from "../../routing/target.ts";
import type { TextPlaces } from "../../wire/long-texts.ts";
import type { IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";

const MODEL = Buffer.from('"model"');
const NAME = /^"model"\s*:\s*"([^"\\]+)"/;
const MAX_NAME = 512;

/**
 * Where the texts of a request are, if no host of its model speaks the client's dialect. The body is not parsed yet, so the model's
 * name is the first that looks like one: what is wrong about it costs time, and nothing else.
 */
export function textPlaces(
  bytes: Buffer,
  { dialect, modelInPath, naming }: IncomingCall,
  { snapshot }: Pick<Gateway, "snapshot">,
): TextPlaces | undefined {
  const places = dialect.requests.texts;
  const name = places && (modelInPath ?? firstModel(bytes));
  if (!name) return undefined;
  const targets = targetsOf(name, naming, snapshot);
  return targets.length > 0 && targets.every(({ via }) => via !== dialect.name) ? places : undefined;
}

function targetsOf(name: string, naming: Naming, { catalogue, targets }: Gateway["snapshot"]): readonly TextTarget[] {
  try {
    return catalogue.resolve(name, naming).offers.flatMap((offer) => targets.textOf(offer));
  } catch {
    // The name is refused, with an error in the client's protocol, once the body is read.
    return [];
  }
}

function firstModel(bytes: Buffer): string | undefined {
  const at = bytes.indexOf(MODEL);
  return at < 0 ? undefined : NAME.exec(bytes.toString("latin1", at, at + MAX_NAME))?.[1];
}
