import { type ApiAccess, ProviderApi } from "../provider-api.ts";
import type { BatchApi } from "./batch-api.ts";

/** The batch API of a configured provider. */
export class ProviderBatches extends ProviderApi {
  readonly api: BatchApi;

  constructor(api: BatchApi, access: ApiAccess) {
    super(api, access);
    this.api = api;
  }

  /** Where lines of a dialect or a service are sent; undefined if batches cannot have them. */
  endpointOf(name: string): string | undefined {
    return Object.hasOwn(this.api.endpoints, name) ? this.api.endpoints[name] : undefined;
  }
}
