import { ADMIN_FLAGS, type AdminClient, connectAdmin } from "./admin-client.ts";

/** Flags of the commands that use the storage, or with `--url` a running gateway. */
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

/** Uses the running gateway at `--url` if given, else the storage. */
export async function atGateway<Result>(
  given: Given,
  remote: (client: AdminClient) => Promise<Result>,
  local: () => Promise<Result>,
): Promise<Result> {
  return given.url === undefined ? local() : remote(await connectAdmin(given));
}
