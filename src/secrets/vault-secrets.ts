import { isObject, objectAt, parseObject } from "../base/json.ts";
import {
  askStore,
  type Environment,
  required,
  SecretFailure,
  type SecretStore,
  textField,
  type WantedSecret,
} from "./secret-store.ts";

/** HashiCorp Vault and OpenBao, by the path of the API: `secret/data/x#field` for version 2 of the key-value engine. */
export class VaultSecrets implements SecretStore {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  async read({ path, field, signal }: WantedSecret): Promise<string> {
    if (field === undefined) throw new SecretFailure("a field is missing: write vault:path#field");
    const address = required(this.#environment, "VAULT_ADDR").replace(/\/+$/, "");
    const token = required(this.#environment, "VAULT_TOKEN");
    const namespace = this.#environment["VAULT_NAMESPACE"];
    const headers = { "x-vault-token": token, ...(namespace ? { "x-vault-namespace": namespace } : {}) };
    const escaped = path.split("/").map(encodeURIComponent).join("/");
    const body = parseObject(await askStore(`${address}/v1/${escaped}`, { headers }, signal));
    const data = objectAt(body, "data");
    if (data === undefined) throw new SecretFailure("the store did not answer like Vault");
    // Version 2 of the engine wraps the fields, with their metadata beside them.
    const isVersioned = isObject(data["data"]) && isObject(data["metadata"]);
    return textField(isVersioned ? data["data"] : data, field);
  }
}
