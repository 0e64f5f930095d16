import type { Call } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ServedModel } from "../settle/served-model.ts";

/** Whether a speech model can answer a conversation in the client's dialect with sound. Other dialects do not support that. */
export function speaksInConversation(
  { incoming }: Pick<Call, "incoming">,
  { model, offers }: Pick<ServedModel, "model" | "offers">,
  { snapshot }: Pick<Gateway, "snapshot">,
): boolean {
  if (model.kind !== "speech") return false;
  const targets = snapshot.targets.service("speech", model, offers);
  return targets.some(({ adapter }) => adapter.dialect === incoming.dialect.name);
}
