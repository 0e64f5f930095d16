import type { ImageAdapter, MediaAdapters, VideoAdapter } from "../../media/adapter.ts";
import { type ApiAccess, ProviderApi } from "../provider-api.ts";

/** The media side of a configured provider: it finds the adapter of a model. */
export class ProviderMedia extends ProviderApi {
  readonly #adapters: MediaAdapters;

  constructor(adapters: MediaAdapters, access: ApiAccess) {
    super(adapters, access);
    this.#adapters = adapters;
  }

  images(model: string): ImageAdapter | undefined {
    return this.#adapters.images?.find((adapter) => adapter.serves(model));
  }

  videos(model: string): VideoAdapter | undefined {
    return this.#adapters.videos?.find((adapter) => adapter.serves(model));
  }
}
