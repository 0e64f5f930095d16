import type { GatewayError } from "../../canon/error.ts";

/** An object at a provider: the id that clients use, and the provider's. */
export interface ObjectIds {
  own: string;
  provider: string;
}

/** An error as a client may read it, which knows only the gateway's ids. Providers quote the whole name of an object, or its end. */
export function withOwnId(error: GatewayError, { own, provider }: ObjectIds): GatewayError {
  const end = provider.slice(provider.lastIndexOf("/") + 1);
  const ownEnd = own.slice(own.lastIndexOf("/") + 1);
  if (end === "") return error;
  return error.withTexts((text) => text.replaceAll(provider, own).replaceAll(end, ownEnd));
}
