import { describe, expect, test } from "bun:test";
import { typesIn } from "../../../testing/sdk-types/declared-type.ts";
import { readTypeScript } from "../../../testing/sdk-types/read-typescript.ts";
import type { DialectName } from "../../canon/dialect-name.ts";
import { BUILT_IN } from "../../providers/index.ts";
import { filesHostsOf } from "../../providers/registry.ts";
import { BUILT_IN_DIALECTS } from "../index.ts";
import { findObjects, type VendorObjects } from "./find-objects.ts";
import type { ObjectFields } from "./object-fields.ts";

const fieldsOf = (dialect: DialectName): ObjectFields => {
  const { objects } = BUILT_IN_DIALECTS.get(dialect).requests;
  if (objects === undefined) throw new Error(`${dialect} has no table of objects`);
  return objects;
};

/** As a provider's declaration names its vendor. */
const VENDORS: VendorObjects = { publicOwners: new Set(["vendor"]), filesHosts: filesHostsOf(BUILT_IN) };

const pathsIn = (dialect: DialectName, body: object): string[] =>
  findObjects(body, fieldsOf(dialect), VENDORS).map(({ path, id }) => `${path} ${id}`);

interface Library {
  /** Declaration files, and the types of requests in each. */
  requests: Readonly<Record<string, readonly string[]>>;
  dialects: readonly DialectName[];
}

/** What the vendors' libraries let a client send, by request type. */
const LIBRARIES: readonly Library[] = [
  {
    requests: {
      "openai/resources/chat/completions/completions.d.ts": ["ChatCompletionCreateParamsNonStreaming"],
      "openai/resources/responses/responses.d.ts": ["ResponseCreateParamsNonStreaming", "ResponseCompactParams"],
      "openai/resources/responses/input-tokens.d.ts": ["InputTokenCountParams"],
      "openai/resources/beta/responses/responses.d.ts": ["ResponseCreateParamsNonStreaming", "ResponseCompactParams"],
      "openai/resources/beta/responses/input-tokens.d.ts": ["InputTokenCountParams"],
      "openai/resources/images.d.ts": ["ImageEditParams", "ImageGenerateParams"],
      "openai/resources/audio/speech.d.ts": ["SpeechCreateParams"],
      "openai/resources/audio/transcriptions.d.ts": ["TranscriptionCreateParams"],
      "openai/resources/audio/translations.d.ts": ["TranslationCreateParams"],
      "openai/resources/embeddings.d.ts": ["EmbeddingCreateParams"],
      "openai/resources/moderations.d.ts": ["ModerationCreateParams"],
      "openai/resources/completions.d.ts": ["CompletionCreateParams"],
    },
    dialects: ["chat", "responses"],
  },
  {
    requests: {
      "@anthropic-ai/sdk/resources/messages/messages.d.ts": ["MessageCreateParams", "MessageCountTokensParams"],
      "@anthropic-ai/sdk/resources/beta/messages/messages.d.ts": ["MessageCreateParams", "MessageCountTokensParams"],
    },
    dialects: ["messages"],
  },
  {
    requests: {
      "@google/genai/dist/genai.d.ts": [
        "GenerateContentParameters",
        "CountTokensParameters",
        "GenerateVideosParameters",
        "GenerateImagesParameters",
        "EditImageParameters",
        "EmbedContentParameters",
      ],
    },
    dialects: ["genai"],
  },
];

/** The fields of every type that the requests of each library lead to, and the types that have them. */
async function declaredFields(): Promise<ReadonlyMap<string, ReadonlySet<string>>[]> {
  const roots = LIBRARIES.map(({ requests }) =>
    Object.entries(requests).flatMap(([file, types]) => types.map((type) => ({ file, type }))),
  );
  const shapes = await readTypeScript("node_modules", roots.flat());
  expect(roots.flat().filter((_, index) => shapes[index] === undefined)).toEqual([]);
  return roots.map(({ length }) => {
    const owners = new Map<string, Set<string>>();
    for (const { name, members } of typesIn(...shapes.splice(0, length).flatMap((shape) => shape ?? []))) {
      for (const member of members.keys()) owners.set(member, (owners.get(member) ?? new Set()).add(name));
    }
    return owners;
  });
}

/** Names that look like those of objects that a provider stores. */
const SUSPICIOUS =
  /(?:^|_)ids?$|(?:Id|Ids)$|uri|url|store|container|cache|corp(?:us|ora)|conversation|engine|gcs|bucket|secret|serviceAccount|topic|template|skill|tunnel|^(?:voice|prompt|thread)$/i;

/** Why these names do not refer to a provider's objects. */
const HARMLESS: Readonly<Record<string, string>> = {
  // References within one request.
  id: "the id of an item that is sent whole; what only names one is listed by its parent",
  call_id: "connects a call with its output",
  tool_call_id: "connects a call with its output",
  tool_use_id: "connects a call with its output",
  tool_id: "connects a call with its output",
  caller_id: "connects a call with its output",
  approval_request_id: "connects an approval with its request",
  tab_id: "a tab of the client's own browser",
  download_id: "a download of the client's own browser",
  user_id: "the client's name for its user",
  // Settings that contain no id.
  cache_control: "where a cache begins",
  caching: "a switch",
  use_cache: "a switch",
  prompt_cache_key: "the client's own word",
  prompt_cache_options: "a setting",
  prompt_cache_retention: "a setting",
  prompt_cache_breakpoint: "where a cache begins",
  store: "a switch",
  storeContext: "a switch",
  skills: "a list whose members are named by skill_id, or inline",
  prompt: "a text; one with an id is named by its member",
  voice: "the name of a voice that all accounts have; a custom one is named by its member",
  googleServiceAccountConfig: "an object whose members are listed",
  searchTemplate: "the name of a template at an API that the client names",
  vertexRagStore: "an object whose members are listed",
  dataStoreSpecs: "an object whose members are listed",
  container_size: "a setting",
  urlContext: "a switch",
  url_sources: "a setting",
  server_url: "a public address",
  baseUrl: "of the library itself",
  baseUrlResourceScope: "of the library itself",
  uris: "a public address that is called",
  domain_secrets: "values that the request brings",
  // Stored by a provider, and available to every account there.
  connector_id: "a connector that all accounts have, and that needs a token of the client's",
  idToken: "a token of the client's",
  // Only compared, never shown.
  comparison_response_id: "whose prompt is compared for its cache; nothing of it is read",
  previous_message_id: "whose prompt is compared for its cache; in `thread` it is listed",
  // Sent as headers, which are not forwarded.
  user_profile_id: "a header that is not forwarded",
  workspace_id: "a header that is not forwarded",
  // Resolved by the gateway itself.
  previous_response_id: "the gateway's own store of answers",
  conversation: "the gateway's own conversations",
};

/** The types whose `id` was reviewed: an item that is sent complete, or a name that the tables list by its parent. */
const OWNERS_OF_ID = new Set(
  `ChatCompletionAssistantMessageParam.Audio ChatCompletionAudioParam.ID ChatCompletionMessageCustomToolCall
   ChatCompletionMessageFunctionToolCall CodeExecutionResult ContainerParams ExecutableCode FunctionCall FunctionResponse MCPToolUseBlockParam
   ResponseCodeInterpreterToolCall ResponseCompactionItemParam ResponseComputerToolCall
   ResponseComputerToolCall.PendingSafetyCheck ResponseConfigurationUpdateItemParam ResponseConversationParam
   ResponseCustomToolCall ResponseCustomToolCallOutput ResponseFileSearchToolCall ResponseFunctionToolCall
   ResponseFunctionWebSearch ResponseInputItem.AdditionalTools ResponseInputItem.AgentMessage
   ResponseInputItem.ApplyPatchCall ResponseInputItem.ApplyPatchCallOutput ResponseInputItem.CompactionTrigger
   ResponseInputItem.ComputerCallOutput ResponseInputItem.ComputerCallOutput.AcknowledgedSafetyCheck
   ResponseInputItem.FunctionCallOutput ResponseInputItem.ImageGenerationCall ResponseInputItem.ItemReference
   ResponseInputItem.LocalShellCall ResponseInputItem.LocalShellCallOutput ResponseInputItem.McpApprovalRequest
   ResponseInputItem.McpApprovalResponse ResponseInputItem.McpCall ResponseInputItem.McpListTools
   ResponseInputItem.MultiAgentCall ResponseInputItem.MultiAgentCallOutput ResponseInputItem.Program
   ResponseInputItem.ProgramOutput ResponseInputItem.ShellCall ResponseInputItem.ShellCallOutput
   ResponseInputItem.ToolSearchCall ResponseOutputMessage ResponsePrompt ResponseReasoningItem
   ResponseToolSearchOutputItemParam ServerToolUseBlockParam SpeechCreateParams.ID ToolCall ToolResponse ToolUseBlockParam`.split(
    /\s+/,
  ),
);

describe("decision 0087: fields that name objects of a provider", () => {
  const libraries = declaredFields();

  test("the tables list every such field of the vendors' libraries", async () => {
    const unknown = (await libraries).flatMap((declared, index) => {
      const tables = (LIBRARIES[index]?.dialects ?? []).map(fieldsOf);
      return [...declared]
        .filter(([name]) => SUSPICIOUS.test(name) && !Object.hasOwn(HARMLESS, name))
        .filter(([name]) => !tables.some(({ fields, members }) => fields.has(name) || members.has(name)))
        .map(([name, owners]) => `${name} of ${[...owners].slice(0, 3).join(", ")}`);
    });
    expect(unknown).toEqual([]);
  });

  test("no type has an id that was not reviewed", async () => {
    const owners = (await libraries).flatMap((declared) => [...(declared.get("id") ?? [])]);
    const unknown = owners.map((owner) => owner.replace(/^Beta/, "")).filter((owner) => !OWNERS_OF_ID.has(owner));
    expect([...new Set(unknown)]).toEqual([]);
  });

  test("the test finds the types in the libraries", async () => {
    const [chat, messages, genai] = await libraries;
    expect(chat?.get("vector_store_ids")).toContain("FileSearchTool");
    expect(messages?.get("file_id")).toContain("FileDocumentSource");
    expect(genai?.get("ragCorpus")).toContain("VertexRagStoreRagResource");
    expect(genai?.get("outputGcsUri")).toContain("GenerateVideosConfig");
  });
});

/** Each names one object, at the path that the error must name. */
const NAMED: readonly [DialectName, object, string][] = [
  [
    "chat",
    { messages: [{ content: [{ type: "file", file: { file_id: "f" } }] }] },
    "messages[0].content[0].file.file_id",
  ],
  ["chat", { messages: [{ role: "assistant", audio: { id: "a" } }] }, "messages[0].audio.id"],
  ["chat", { messages: [{ content: [{ image_url: { url: "gs://b/o" } }] }] }, "messages[0].content[0].image_url.url"],
  ["chat", { messages: [{ content: [{ image_url: { url: " GS://b/o" } }] }] }, "messages[0].content[0].image_url.url"],
  ["chat", { messages: [{ content: [{ image_url: "s3://b/o" }] }] }, "messages[0].content[0].image_url"],
  ["chat", { messages: [{ content: [{ video_url: { url: "files/a" } }] }] }, "messages[0].content[0].video_url.url"],
  ["chat", { tools: [{ type: "file_search", vector_store_ids: ["vs"] }] }, "tools[0].vector_store_ids[0]"],
  ["chat", { image: [{ file_id: "f" }] }, "image[0].file_id"],
  ["chat", { mask: { file_id: "f" } }, "mask.file_id"],
  ["chat", { voice: { id: "voice_1" } }, "voice.id"],
  ["chat", { audio: { voice: { id: "voice_1" } } }, "audio.voice.id"],
  ["responses", { input: [{ content: [{ type: "input_file", file_id: "f" }] }] }, "input[0].content[0].file_id"],
  ["responses", { input: [{ content: [{ type: "input_image", file_id: "f" }] }] }, "input[0].content[0].file_id"],
  [
    "responses",
    { input: [{ type: "function_call_output", output: [{ file_id: "f" }] }] },
    "input[0].output[0].file_id",
  ],
  ["responses", { input: [{ type: "computer_call_output", output: { file_id: "f" } }] }, "input[0].output.file_id"],
  ["responses", { input: [{ type: "code_interpreter_call", container_id: "c" }] }, "input[0].container_id"],
  ["responses", { input: [{ type: "image_generation_call", id: "ig_1" }] }, "input[0].id"],
  ["responses", { input: [{ type: "image_generation_call", id: "ig_1", result: "x" }] }, "input[0].id"],
  ["responses", { input: [{ type: "image_generation_call", id: "ig_1", status: "failed" }] }, "input[0].id"],
  ["responses", { tools: [{ type: "code_interpreter", container: "cntr" }] }, "tools[0].container"],
  ["responses", { tools: [{ container: { type: "auto", file_ids: ["f"] } }] }, "tools[0].container.file_ids[0]"],
  [
    "responses",
    { tools: [{ type: "shell", environment: { container_id: "c" } }] },
    "tools[0].environment.container_id",
  ],
  [
    "responses",
    { tools: [{ type: "shell", environment: { skills: [{ skill_id: "s" }] } }] },
    "tools[0].environment.skills[0].skill_id",
  ],
  ["responses", { tools: [{ type: "file_search", vector_store_ids: ["vs"] }] }, "tools[0].vector_store_ids[0]"],
  [
    "responses",
    { tools: [{ type: "image_generation", input_image_mask: { file_id: "f" } }] },
    "tools[0].input_image_mask.file_id",
  ],
  ["responses", { tools: [{ type: "mcp", tunnel_id: "t" }] }, "tools[0].tunnel_id"],
  ["responses", { tools: [{ type: "brand_new", file_ids: ["f"] }] }, "tools[0].file_ids[0]"],
  ["responses", { prompt: { id: "pmpt_1" } }, "prompt.id"],
  [
    "messages",
    { messages: [{ content: [{ source: { type: "file", file_id: "f" } }] }] },
    "messages[0].content[0].source.file_id",
  ],
  [
    "messages",
    { messages: [{ content: [{ type: "container_upload", file_id: "f" }] }] },
    "messages[0].content[0].file_id",
  ],
  [
    "messages",
    { messages: [{ content: [{ type: "tool_result", content: [{ source: { file_id: "f" } }] }] }] },
    "messages[0].content[0].content[0].source.file_id",
  ],
  ["messages", { system: [{ source: { url: "gs://b/o" } }] }, "system[0].source.url"],
  ["messages", { container: "container_1" }, "container"],
  ["messages", { container: { id: "container_1" } }, "container.id"],
  ["messages", { container: { skills: [{ type: "custom", skill_id: "s" }] } }, "container.skills[0].skill_id"],
  ["messages", { container: { skills: [{ type: "stranger", skill_id: "s" }] } }, "container.skills[0].skill_id"],
  ["messages", { container: { skills: [{ skill_id: "s" }] } }, "container.skills[0].skill_id"],
  // Only what is looked up by owner can be public, whatever the owner.
  ["messages", { container: { type: "vendor", id: "container_1" } }, "container.id"],
  ["messages", { thread: { previous_message_id: "msg_1" } }, "thread.previous_message_id"],
  [
    "genai",
    { contents: [{ parts: [{ fileData: { fileUri: "gs://b/o" } }] }] },
    "contents[0].parts[0].fileData.fileUri",
  ],
  [
    "genai",
    { contents: [{ parts: [{ file_data: { file_uri: "files/a" } }] }] },
    "contents[0].parts[0].file_data.file_uri",
  ],
  [
    "genai",
    { contents: [{ parts: [{ fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/a" } }] }] },
    "contents[0].parts[0].fileData.fileUri",
  ],
  ...[
    "HTTPS://GenerativeLanguage.googleapis.com./v1beta/files/a",
    "https:generativelanguage.googleapis.com/v1beta/%66iles/a",
    "https://generativelanguage.googleapis.com/v1beta/x/%2e%2e/files%252Fa",
    "https:\\\\generativelanguage.mtls.googleapis.com\\v1beta\\files\\a",
    "files%2Fa",
  ].map((url): [DialectName, object, string] => [
    "chat",
    { messages: [{ content: [{ image_url: { url } }] }] },
    "messages[0].content[0].image_url.url",
  ]),
  [
    "genai",
    { contents: [{ parts: [{ functionResponse: { parts: [{ fileData: { fileUri: "gs://b" } }] } }] }] },
    "contents[0].parts[0].functionResponse.parts[0].fileData.fileUri",
  ],
  ["genai", { cachedContent: "cachedContents/a" }, "cachedContent"],
  ["genai", { generateContentRequest: { cachedContent: "a" } }, "generateContentRequest.cachedContent"],
  [
    "genai",
    { tools: [{ fileSearch: { fileSearchStoreNames: ["fileSearchStores/a"] } }] },
    "tools[0].fileSearch.fileSearchStoreNames[0]",
  ],
  [
    "genai",
    { tools: [{ retrieval: { vertexAiSearch: { datastore: "projects/p" } } }] },
    "tools[0].retrieval.vertexAiSearch.datastore",
  ],
  [
    "genai",
    { tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: "projects/p" }] } } }] },
    "tools[0].retrieval.vertexRagStore.ragResources[0].ragCorpus",
  ],
  [
    "genai",
    { tools: [{ googleMaps: { authConfig: { httpBasicAuthConfig: { credentialSecret: "projects/p" } } } }] },
    "tools[0].googleMaps.authConfig.httpBasicAuthConfig.credentialSecret",
  ],
  ["genai", { modelArmorConfig: { promptTemplateName: "projects/p" } }, "modelArmorConfig.promptTemplateName"],
  ["genai", { instances: [{ image: { gcsUri: "gs://b/o" } }] }, "instances[0].image.gcsUri"],
  ["genai", { parameters: { storageUri: "gs://b" } }, "parameters.storageUri"],
  ["genai", { parameters: { storage_uri: "gs://b" } }, "parameters.storage_uri"],
];

/** None of these refers to a provider's object. */
const INNOCENT: readonly [DialectName, object][] = [
  ["chat", { messages: [{ content: [{ image_url: { url: "https://example.com/files/a.png" } }] }] }],
  ["chat", { messages: [{ content: [{ image_url: { url: "data:image/png;base64,AAAA" } }] }], voice: "alloy" }],
  ["chat", { tools: [{ type: "function", function: { parameters: { examples: [{ file_id: "f" }] } } }] }],
  ["chat", { metadata: { file_id: "f" }, audio: { voice: "alloy", format: "wav" }, file_id: null }],
  ["responses", { prompt: "a text", tools: [{ container: { type: "auto", memory_limit: "1g" } }] }],
  ["responses", { input: [{ type: "message", id: "msg_1", content: [{ annotations: [{ file_id: "f" }] }] }] }],
  ["responses", { input: [{ type: "image_generation_call", id: "ig_1", result: "iVBORw0KGgoAAA" }] }],
  ["responses", { input: [{ type: "file_search_call", results: [{ file_id: "f" }] }], file_ids: [] }],
  ["messages", { messages: [{ content: [{ type: "tool_use", id: "t", input: { file_id: "f", container: "c" } }] }] }],
  ["messages", { messages: [{ content: [{ type: "code_execution_output", file_id: "f" }] }] }],
  ["messages", { container: { skills: [{ type: "vendor", skill_id: "pptx" }] } }],
  ["chat", { messages: [{ content: [{ image_url: { url: "https://storage.googleapis.com/shop/files/a.png" } }] }] }],
  ["messages", { container: { skills: [] }, diagnostics: { previous_message_id: "msg_1" } }],
  ["genai", { contents: [{ parts: [{ fileData: { fileUri: "https://www.youtube.com/watch?v=a" } }] }] }],
  ["genai", { contents: [{ parts: [{ functionCall: { args: { fileUri: "gs://b" } } }] }] }],
  ["genai", { contents: [{ parts: [{ functionResponse: { response: { fileUri: "gs://b" } } }] }] }],
  ["genai", { tools: [{ functionDeclarations: [{ parameters: { example: { engine: "a" } } }] }] }],
  ["genai", { instances: [{ image: { gcsUri: "https://example.com/a.png" } }] }],
];

describe("decision 0087: objects that a request names", () => {
  test.each(NAMED)("%s %j", (dialect, body, path) => {
    expect(findObjects(body, fieldsOf(dialect), VENDORS).map((reference) => reference.path)).toEqual([path]);
  });

  test.each(NAMED)("the keys of %s %j are detected when its body is read", (dialect, body) => {
    const { names } = fieldsOf(dialect);
    const keys: string[] = [];
    JSON.stringify(body, (key, value: unknown) => {
      keys.push(key);
      return value;
    });
    expect(keys.some((key) => names.has(key))).toBe(true);
  });

  test.each(INNOCENT)("%s %j names no object", (dialect, body) => {
    expect(pathsIn(dialect, body)).toEqual([]);
  });

  test("several objects are found in order", () => {
    const content = [{ file: { file_id: "f1" } }, { file: { file_id: "f2" } }];
    expect(pathsIn("chat", { messages: [{ content }] })).toEqual([
      "messages[0].content[0].file.file_id f1",
      "messages[0].content[1].file.file_id f2",
    ]);
  });

  test("hostile: a request that names a hundred thousand objects is rejected", () => {
    const body = { tools: [{ file_ids: Array.from({ length: 100_000 }, (_, index) => `f${index}`) }] };
    expect(() => pathsIn("responses", body)).toThrow("more than 1000 stored objects");
  });
});
