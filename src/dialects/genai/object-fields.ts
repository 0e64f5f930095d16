import { defineObjectFields, isStoredUrl, type ObjectField, URL_FIELDS } from "../reading/object-fields.ts";

/** A file URI that is not a public URL names a file that the host stores. */
export const isNotPublic: NonNullable<ObjectField["like"]> = (uri, filesHosts) =>
  isStoredUrl(uri, filesHosts) || !/^\s*https?:/i.test(uri);

/** Objects that only cloud projects have, by their names. */
export const OF_A_CLOUD: Readonly<Record<string, string>> = {
  fileSearchStoreNames: "a file search store",
  ragCorpora: "a corpus",
  ragCorpus: "a corpus",
  ragFileIds: "a file of a corpus",
  datastore: "a data store",
  dataStore: "a data store",
  engine: "a search engine",
  storageUri: "a bucket",
  outputGcsUri: "a bucket",
  outputUriPrefix: "a bucket",
  pubsubTopic: "a topic",
  promptTemplateName: "a template",
  responseTemplateName: "a template",
  apiKeySecret: "a secret",
  apiKeySecretVersion: "a secret",
  credentialSecret: "a secret",
  serviceAccount: "a service account",
};

const fields: readonly ObjectField[] = [
  ...URL_FIELDS,
  { field: "fileUri", what: "a stored file", like: isNotPublic, kind: "file" },
  { field: "gcsUri", what: "a stored file", like: isNotPublic, kind: "file" },
  { field: "cachedContent", what: "a cache", kind: "cache" },
  ...Object.entries(OF_A_CLOUD).map(([field, what]) => ({ field, what })),
];

export const genaiObjects = defineObjectFields({
  fields,
  storing: { field: "store" },
  cache: "cachedContent",
  opaque: [
    "functionDeclarations",
    "args",
    "partialArgs",
    "response",
    "responseSchema",
    "responseJsonSchema",
    "schema",
    "labels",
  ],
});
