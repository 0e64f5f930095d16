import type { Principal } from "../../access/principal.ts";
import { allowsModel, allowsProtocols } from "../../access/scopes.ts";
import { GatewayError } from "../../canon/error.ts";
import type { ListedModel } from "../../canon/listed-model.ts";
import { listedModel } from "../../catalogue/listed-model.ts";
import type { Model } from "../../catalogue/model.ts";
import { protocolsFor } from "../../catalogue/protocols-for.ts";
import { countedCaller } from "../counted-caller.ts";
import { presentsCredential } from "../credential.ts";
import { namingOf } from "../naming.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";

/** `GET …/models`: with a key, the models that it may call; without a credential all of them, if they are public. */
export const listModels: Handler = async (routed, context) => {
  const { catalogue } = context.gateway.snapshot;
  const caller = await callerOf(routed, context);
  const models = catalogue.list().filter((model) => caller === undefined || mayCall(caller, model));
  const { dialect, door, query } = routed;
  const listed = models.map((model) => shown(model, routed, caller));
  return Response.json(dialect.http.models.list(listed, { door, query }));
};

/** `GET …/models/{id}` */
export const showModel: Handler = async (routed, context) => {
  const { catalogue } = context.gateway.snapshot;
  const caller = await callerOf(routed, context);
  const name = routed.dialect.http.readModel(routed.parameters);
  const { model } = catalogue.resolve(name, namingOf(routed));
  if (caller !== undefined && !mayCall(caller, model)) {
    const message = `The key "${caller.keyName}" cannot call the model ${JSON.stringify(name.slice(0, 200))}.`;
    throw new GatewayError("not_found", message);
  }
  return Response.json(routed.dialect.http.models.entry(shown(model, routed, caller), routed.door));
};

/** A wrong credential is refused like anywhere else: clients list models to check whether a key is valid. */
async function callerOf(routed: RoutedRequest, { gateway }: ServerContext): Promise<Principal | undefined> {
  if (gateway.snapshot.publicModels && !presentsCredential(routed.request, routed.query)) return undefined;
  const caller = await countedCaller(routed, gateway);
  routed.connection.hold();
  routed.connection.rest();
  return caller;
}

const mayCall = (caller: Principal, { id, kind }: Model): boolean =>
  allowsModel(caller, id) && allowsProtocols(caller, protocolsFor(kind));

/** At the contract's own base URLs, modalities use the contract's terms (contract 2.9). */
const shown = (model: Model, { door }: RoutedRequest, caller: Principal | undefined): ListedModel =>
  listedModel(model, { contractWords: door === "contract", discounts: caller?.discounts });
