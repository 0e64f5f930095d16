import type { Call } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ServedModel } from "../settle/served-model.ts";

/** Whether a model that only speaks answers a conversation of the client's own dialect, with sound. Other dialects have no place for it. */
export function speaksInConversation(
  { incoming }: Pick<Call, "incoming">,
  { model, offers }: Pick<ServedModel, "model" | "offers">,
  { snapshot }: Pick<Gateway, "snapshot">,
): boolean {
  if (model.kind !== "speech") return false;
  const targets = snapshot.targets.service("speech", model, offers);
  return targets.some(({ adapter }) => adapter.dialect === incoming.dialect.name);
}
