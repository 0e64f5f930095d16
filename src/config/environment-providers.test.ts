import { expect, test } from "bun:test";
import { ConfigError } from "./config-error.ts";
import { environmentProviders } from "./environment-providers.ts";

const KNOWN = [
  { kind: "openai", variables: { api_key: "OPENAI_API_KEY" } },
  { kind: "kling", variables: { access_key: "KLING_ACCESS_KEY", secret_key: "KLING_SECRET_KEY" } },
  { kind: "gemini", variables: { api_key: "GEMINI_API_KEY" } },
  { kind: "gemini", variables: { api_key: "GOOGLE_API_KEY" } },
  { kind: "azure-openai", variables: { api_key: "AZURE_OPENAI_API_KEY", base_url: "AZURE_OPENAI_ENDPOINT" } },
  { kind: "openai-compatible", variables: {} },
];

test("a kind declares a provider only if all of its variables are set", () => {
  expect(environmentProviders({}, KNOWN)).toEqual([]);
  const half = { OPENAI_API_KEY: "", KLING_ACCESS_KEY: "a", AZURE_OPENAI_API_KEY: "k" };
  expect(environmentProviders(half, KNOWN)).toEqual([]);
});

test("fields have the program's names, credentials are secrets, and the first of two sets wins", () => {
  const environment = {
    OPENAI_API_KEY: "hidden-1",
    KLING_ACCESS_KEY: "hidden-2",
    KLING_SECRET_KEY: "hidden-3",
    GEMINI_API_KEY: "hidden-4",
    GOOGLE_API_KEY: "hidden-5",
    AZURE_OPENAI_API_KEY: "hidden-6",
    AZURE_OPENAI_ENDPOINT: "https://acme.openai.azure.com/",
  };
  const providers = environmentProviders(environment, KNOWN);
  expect(JSON.parse(JSON.stringify(providers))).toEqual([
    { name: "openai", kind: "openai", apiKey: "[secret]" },
    { name: "kling", kind: "kling", accessKey: "[secret]", secretKey: "[secret]" },
    { name: "gemini", kind: "gemini", apiKey: "[secret]" },
    { name: "azure-openai", kind: "azure-openai", apiKey: "[secret]", baseUrl: "https://acme.openai.azure.com" },
  ]);
  expect(providers[2]?.apiKey?.reveal()).toBe("hidden-4");
});

test("white space around a value is trimmed; a value of only white space counts as unset", () => {
  const environment = { OPENAI_API_KEY: " sk-ok\r\n", GEMINI_API_KEY: " \t\n" };
  const providers = environmentProviders(environment, KNOWN);
  expect(providers.map(({ kind }) => kind)).toEqual(["openai"]);
  expect(providers[0]?.apiKey?.reveal()).toBe("sk-ok");
});

test("S10: values are checked like those of a file, and errors name the variable without its value", () => {
  const environment = {
    OPENAI_API_KEY: "hidden key",
    KLING_ACCESS_KEY: "fine",
    KLING_SECRET_KEY: "hidden\u200b",
    AZURE_OPENAI_API_KEY: "fine",
    AZURE_OPENAI_ENDPOINT: "hidden.example",
  };
  expect(() => environmentProviders(environment, KNOWN)).toThrow(
    new ConfigError(
      [
        "OPENAI_API_KEY must be visible ASCII characters without spaces",
        "KLING_SECRET_KEY must be visible ASCII characters without spaces",
        "AZURE_OPENAI_ENDPOINT must be an http or https URL without query, fragment or credentials",
      ].map((message) => ({ file: "environment", line: 1, column: 1, message })),
    ),
  );
});
