// https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html

import type { MessagesOptions } from "../dialects/messages/options.ts";
import { bearer } from "./auth.ts";
import { bedrockServices } from "./bedrock/services.ts";
import type { ProviderDeclaration, UpstreamCall } from "./provider.ts";
import { signRequest } from "./sigv4.ts";

const DEFAULT_REGION = "us-east-1";

/** Ids such as `us.anthropic.claude-sonnet-4-5-20250929-v1:0`; the ARN of an application's own profile does not say. */
const isClaude = (model: string): boolean => model.includes("anthropic.");

const operation = ({ model, stream }: UpstreamCall, whole: string, streamed: string): string =>
  `/model/${encodeURIComponent(model)}/${stream ? streamed : whole}`;

/** Amazon Bedrock's runtime. With a `base_url` the region is only part of the signature. */
export const bedrock: ProviderDeclaration = {
  kind: "bedrock",
  systemName: "aws.bedrock",
  publishers: [],
  variables: { api_key: "AWS_BEARER_TOKEN_BEDROCK", region: "AWS_REGION" },
  fields: {
    required: [],
    optional: ["region", "api_key", "access_key_id", "secret_access_key", "session_token", "dialects"],
  },
  baseUrl: ({ region }) => {
    if (region === undefined) throw new Error("region is required, such as us-east-1");
    return `https://bedrock-runtime.${region}.amazonaws.com`;
  },
  authenticate: (settings) => {
    if (!settings.apiKey && !(settings.accessKeyId && settings.secretAccessKey)) {
      throw new Error("either api_key or both access_key_id and secret_access_key are required");
    }
    return bearer(settings);
  },
  sign: ({ apiKey, accessKeyId, secretAccessKey, sessionToken, region = DEFAULT_REGION }, { clock }) => {
    if (apiKey || !accessKeyId || !secretAccessKey) return undefined;
    const credentials = {
      accessKeyId,
      secretAccessKey: secretAccessKey.reveal(),
      ...(sessionToken ? { sessionToken: sessionToken.reveal() } : {}),
    };
    return ({ url, headers, body }) => {
      const { "content-type": type } = headers;
      const covered = { method: "POST", url, headers: type === undefined ? {} : { "content-type": type }, body };
      return signRequest(covered, credentials, { region, service: "bedrock" }, new Date(clock.wallMs()));
    };
  },
  dialects: {
    converse: {
      generate: (call) => operation(call, "converse", "converse-stream"),
      framing: "aws-event-stream",
      origin: (model) => (isClaude(model) ? "messages" : "bedrock"),
    },
    messages: {
      serves: isClaude,
      optional: true,
      generate: (call) => operation(call, "invoke", "invoke-with-response-stream"),
      framing: "aws-event-stream",
      body: {
        remove: ["model", "stream"],
        set: ({ options }: UpstreamCall<MessagesOptions>) => ({
          anthropic_version: "bedrock-2023-05-31",
          ...(options === undefined ? {} : { anthropic_beta: options.betas }),
        }),
      },
    },
  },
  services: bedrockServices,
  quirks: {
    converse: { media: ["image", "document", "video"], mediaUrls: [] },
    messages: { forwardBetas: true, mediaUrls: [], hostedTools: false },
  },
};
