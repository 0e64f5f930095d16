import { GatewayError } from "../../canon/error.ts";
import { defineCommand, EXIT, printJson, UsageError } from "../command.ts";
import { CONNECTION_FLAGS } from "../gateway-client.ts";
import { gatewayUrl } from "../gateway-url.ts";

/** The variable is printed instead of the API key, because shell output is often logged. */
const KEY = "$TRIVIUM_API_KEY";

interface Settings {
  url: string;
  model: string | undefined;
}

/** The environment variables of each client. The shell expands `$TRIVIUM_API_KEY`. */
const CLIENTS: Readonly<Record<string, (settings: Settings) => Record<string, string | undefined>>> = {
  openai: ({ url }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY }),
  anthropic: ({ url }) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY }),
  google: ({ url }) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY }),
  "claude-code": ({ url, model }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: KEY,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  }),
  "gemini-cli": ({ url, model }) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY, GEMINI_MODEL: model }),
  aider: ({ url, model }) => ({
    OPENAI_API_BASE: `${url}/v1`,
    OPENAI_API_KEY: KEY,
    AIDER_MODEL: model && `openai/${model}`,
  }),
  "qwen-code": ({ url, model }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY, OPENAI_MODEL: model }),
};

/** Clients that do not read their settings from the environment, and where they read them. */
const BY_FILE: Readonly<Record<string, string>> = {
  codex: "Codex reads its provider from ~/.codex/config.toml, not from the environment",
  opencode: "opencode reads its providers from opencode.json, not from the environment",
  cline: "Cline is configured with `cline auth` or in its settings, not through the environment",
  continue: "Continue reads its models from ~/.continue/config.yaml, not from the environment",
  "open-webui": "Open WebUI is configured in its admin settings or with the environment variables of its container",
};

export const env = defineCommand({
  flags: {
    model: {
      type: "string",
      value: "M",
      about: "PROVIDER/MODEL, for clients that read the model from the environment",
    },
    url: CONNECTION_FLAGS.url,
    config: CONNECTION_FLAGS.config,
  },
  takes: 1,
  run: async ({ values, positionals: [client = ""] }) => {
    const where = Object.hasOwn(BY_FILE, client) ? BY_FILE[client] : undefined;
    if (where !== undefined) {
      throw new GatewayError("invalid_request", `${where}. See docs/clients/${client}.md.`);
    }
    const known = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
    if (!known) {
      const problem = client === "" ? "Missing client. Choose one of" : `Unknown client "${client}". Choose one of`;
      throw new UsageError(`${problem}: ${[...Object.keys(CLIENTS), ...Object.keys(BY_FILE)].join(", ")}.`);
    }
    const settings = known({ url: await gatewayUrl(values), model: values.model });
    const variables = Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined);
    if (values.json) printJson(Object.fromEntries(variables));
    else for (const [name, value] of variables) console.log(`export ${name}=${quote(value)}`);
    return EXIT.ok;
  },
});

const quote = (value: string): string => (value === KEY ? `"${KEY}"` : `'${value.replaceAll("'", "'\\''")}'`);
