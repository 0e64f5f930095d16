import { ADMIN_FLAGS, type AdminClient, connectAdmin } from "./admin-client.ts";

/** Flags of the commands that work with the storage, or at a running gateway where `--url` names one. */
export const GATEWAY_FLAGS = {
  url: {
    type: "string",
    value: "URL",
    about: "use the Admin API of a running gateway at this URL instead of the configured database",
  },
  secret: ADMIN_FLAGS.secret,
} as const;

interface Given {
  url?: string | undefined;
  secret?: string | undefined;
  config?: string | undefined;
}

/** Does it at the running gateway that `--url` names; else in this process. */
export async function atGateway<Result>(
  given: Given,
  remote: (client: AdminClient) => Promise<Result>,
  local: () => Promise<Result>,
): Promise<Result> {
  return given.url === undefined ? local() : remote(await connectAdmin(given));
}
