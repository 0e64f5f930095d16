import { type ApiAccess, ProviderApi } from "../provider-api.ts";
import type { FilesApi } from "./files-api.ts";

/** A files API of a configured provider. */
export class ProviderFiles extends ProviderApi {
  readonly api: FilesApi;
  /** The provider's name in the configuration. */
  readonly provider: string;

  constructor(api: FilesApi, access: ApiAccess) {
    super(api, access);
    this.api = api;
    this.provider = access.settings.name;
  }
}
