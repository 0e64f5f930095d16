import type { Payer } from "../access/people/token-ring.ts";
import type { Principal } from "../access/principal.ts";
import { countRequest } from "../relay/count-request.ts";
import type { Gateway } from "../relay/gateway.ts";
import { credentialOf } from "./credential.ts";
import type { RoutedRequest } from "./routed-request.ts";

/** `query`: where a key in the URL counts. */
interface Counted extends Pick<RoutedRequest, "request" | "dialect" | "connection"> {
  query: URLSearchParams | undefined;
}

/** The caller of a request that calls no model. It counts as one of the key's requests, whatever its outcome. */
export async function countedCaller(
  { request, query, dialect, connection }: Counted,
  gateway: Gateway,
): Promise<Principal> {
  const principal = await gateway.keys.identify(credentialOf(request, query, dialect) ?? "", connection);
  await countRequest(principal, gateway);
  return principal;
}

/** The same for a URL that a key was given, and that needs no credential beside it. */
export async function countedHolder(
  payer: Payer,
  { connection }: Pick<RoutedRequest, "connection">,
  gateway: Gateway,
): Promise<Principal> {
  const principal = await gateway.keys.holder(payer, connection, "URL");
  await countRequest(principal, gateway);
  return principal;
}
