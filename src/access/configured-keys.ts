import { withoutAbsent } from "../base/without-absent.ts";
import { hintOf } from "./key-hash.ts";
import { keyRoutingView } from "./key-routing.ts";
import { type KeyView, keyView } from "./key-view.ts";
import { type StaticKey, staticKeyId } from "./known-keys.ts";
import { partLimitsView } from "./parts/part-limits.ts";

/** The keys of `trivium.yaml` as the API and the command line show them. */
export const configuredKeys = (keys: readonly StaticKey[]): KeyView[] =>
  keys.map(({ key, limits, routing, partLimits, ...rest }) =>
    keyView(
      withoutAbsent({
        ...rest,
        id: staticKeyId(rest.name),
        hint: hintOf(key),
        limits: { ...limits },
        routing: routing && { ...keyRoutingView(routing) },
        partLimits: partLimits && { ...partLimitsView(partLimits) },
      }),
    ),
  );
