import type { Call, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** The provider's name of a model that a request names; undefined if it does not offer it. Names were checked when the request was read. */
export const upstreamName =
  ({ incoming }: Call, { snapshot }: Gateway, { target }: LaneAttempt) =>
  (model: string): string | undefined => {
    const { offers } = snapshot.catalogue.resolve(model, incoming.naming);
    return offers.find(({ provider }) => provider === target.offer.provider)?.upstreamModel;
  };
