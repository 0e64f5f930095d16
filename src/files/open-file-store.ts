import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import type { FileStore } from "./file-store.ts";
import { FolderStore } from "./folder-store.ts";
import { type S3Settings, S3Store } from "./s3-store.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface StoreUse {
  /** The field of the configuration that has the URL. */
  field: string;
  /** The form of the names, as the source of a pattern; default: that of media files. */
  names?: string;
}

/** Opens a folder, created if missing, or `s3://bucket/prefix`, and removes the remains of killed writers. */
export async function openFileStore(
  url: string,
  environment: Environment,
  sources: Sources,
  use: StoreUse = { field: "files" },
): Promise<FileStore> {
  const store = await connect(url, environment, sources, use);
  await store.removeUnfinished(sources.clock.wallMs());
  return store;
}

async function connect(
  url: string,
  environment: Environment,
  sources: Sources,
  { field, names }: StoreUse,
): Promise<FileStore> {
  if (url.startsWith("s3://")) {
    const settings = readS3Settings(url, environment, field);
    return await S3Store.open({ ...settings, ...withoutAbsent({ names }) }, sources.clock);
  }
  if (url === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
    throw new GatewayError(
      "invalid_request",
      `\`${field}\` must be a folder such as ./data/files, or s3://bucket/prefix.`,
    );
  }
  return await FolderStore.open(url, sources, undefined, names);
}

/** The URL names the bucket; secrets come from the environment, under the names that other programs use. */
function readS3Settings(url: string, environment: Environment, field: string): S3Settings {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/?#@:]+)(?:\/([^?#]*))?$/.exec(url) ?? [];
  if (bucket === "") {
    const message = `\`${field}\` must be s3://bucket/prefix; set credentials and endpoint in the environment.`;
    throw new GatewayError("invalid_request", message);
  }
  const first = (...names: string[]) => names.map((name) => environment[name]).find(Boolean);
  const accessKeyId = first("S3_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID");
  const secretAccessKey = first("S3_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const message = `\`${field}\` is in the bucket ${bucket}, but its credentials are missing: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.`;
    throw new GatewayError("invalid_request", message);
  }
  const sessionToken = first("S3_SESSION_TOKEN", "AWS_SESSION_TOKEN");
  const endpoint = first("S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT");
  const region = first("S3_REGION", "AWS_REGION", "AWS_DEFAULT_REGION");
  const prefix = path.replace(/^\/+|\/+$/g, "");
  return withoutAbsent({
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    accessKeyId,
    secretAccessKey,
    sessionToken,
    endpoint,
    region,
  });
}
