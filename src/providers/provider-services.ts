import type {
  DeclaredAdapters,
  ServiceAdapters,
  ServiceDeclaration,
  ServiceName,
} from "../services/service-adapters.ts";
import { type ApiAccess, ProviderApi } from "./provider-api.ts";

/** The services of a configured provider: it finds the adapter of a model. */
export class ProviderServices extends ProviderApi {
  readonly #adapters: DeclaredAdapters;

  constructor(declaration: ServiceDeclaration, access: ApiAccess) {
    super(declaration, access);
    this.#adapters = declaration;
  }

  adapter<Name extends ServiceName>(name: Name, model: string): ServiceAdapters[Name] | undefined {
    return this.#adapters[name]?.find((adapter) => adapter.serves(model));
  }
}
