import type { Kind, Vendor } from "./fact.ts";
import type { Language } from "./source-names.ts";

/** Names that the gateway does not know, and why that is accepted. A name that it learns must be removed here. */
export interface Exceptions {
  readonly vendor: Vendor;
  readonly protocol: string;
  readonly reason: string;
  /** Only the SDK of that language declares them. */
  readonly only?: Language;
  readonly names: Partial<Readonly<Record<Kind, readonly string[]>>>;
}

const ANOTHER_API = "Another API of the vendor, which is not served here.";
const NATIVE = "Only this protocol has it: providers of the protocol receive it unchanged, others do not receive it.";
const REPEATED = "Progress of an item, which the finished item repeats.";
const DETAIL = "A detail that no other protocol has; clients of this protocol receive it.";
const NOT_FORWARDED =
  "Names an account, a workspace or a user of the vendor's, which the gateway's own credential does not have.";
const PASSED = "Fields that the schema does not list are passed on to hosts of this API.";
const VIDEO_TOKENS =
  "Tokens of a generated video have a price of their own, which no price list has: billed as text, and named as unpriced.";
const UNREAD = "An option that is not sent: the receipt lists it as dropped.";
const REFUSED = "A value that the schema does not list is refused, so no response has what follows from it.";

export const EXCEPTIONS: readonly Exceptions[] = [
  // Money.
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: "Images of the hosted tool are billed by the image, from the items that show them.",
    names: {
      counter: [
        "tool_usage.image_gen.input_tokens",
        "tool_usage.image_gen.input_tokens_details.image_tokens",
        "tool_usage.image_gen.input_tokens_details.text_tokens",
        "tool_usage.image_gen.output_tokens",
        "tool_usage.image_gen.total_tokens",
        "tool_usage.image_gen.cached_tokens",
        "tool_usage.image_gen.cached_tokens_details.cached_image_tokens",
        "tool_usage.image_gen.cached_tokens_details.cached_text_tokens",
        "tool_usage.image_gen.output_tokens_details.image_tokens",
        "tool_usage.image_gen.output_tokens_details.text_tokens",
      ],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: "Several agents in one response are a beta, and the header that enables it is not forwarded.",
    names: {
      tool: ["multi_agent"],
      item: ["agent_message", "multi_agent_call", "multi_agent_call_output"],
      answer: ["agent"],
      parameter: ["agent", "multi_agent"],
    },
  },

  {
    vendor: "Google",
    protocol: "genai",
    reason: VIDEO_TOKENS,
    names: { counter: ["candidatesTokensDetails.VIDEO.tokenCount"] },
  },
  {
    vendor: "Google",
    protocol: "interactions",
    reason: VIDEO_TOKENS,
    names: {
      counter: [
        "output_tokens_by_modality.video.tokens",
        "step_usage.output_tokens_by_modality.video.tokens",
        "total_usage.output_tokens_by_modality.video.tokens",
      ],
    },
  },

  // OpenAI, chat and Responses.
  {
    vendor: "OpenAI",
    protocol: "chat",
    reason: "The contract lists the values of this field.",
    names: { parameter: ["image_url.image_url.detail=original"] },
  },
  {
    vendor: "OpenAI",
    protocol: "chat",
    reason: NATIVE,
    names: { parameter: ["include_obfuscation"], answer: ["expires_at", "system_fingerprint"] },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason:
      "Items of tools that the client runs. They are read by the name of their tool, and become calls and results elsewhere.",
    names: {
      item: [
        "apply_patch_call",
        "apply_patch_call_output",
        "computer_call_output",
        "local_shell_call",
        "local_shell_call_output",
      ],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: "Items of tools that no other protocol has; providers of the protocol receive and send them unchanged.",
    names: {
      item: [
        "compaction_trigger",
        "file_search_call",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_list_tools",
        "tool_search_call",
      ],
      answer: [
        "async",
        "container_reference",
        "created_by",
        "exit",
        "find_in_page",
        "fingerprint",
        "moderation_details",
        "open_page",
        "stderr",
        "stdout",
        "timeout",
      ],
      parameter: [
        "async",
        "computer_use",
        "computer_use_preview",
        "external_web_access",
        "file_search",
        "search_content_types",
      ],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: "Citations of files that the provider stores; the files cannot be read through another protocol.",
    names: {
      answer: ["container_file_citation", "file_citation", "file_path"],
      parameter: ["container_file_citation", "file_citation", "file_path"],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: NATIVE,
    names: {
      parameter: ["access_programs", "context_compression", "personality", "policy", "variables", "version"],
      answer: ["misalignment", "prompt_cache_diagnostics"],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: NATIVE,
    only: "Python",
    names: { answer: ["input_transformations"] },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: REPEATED,
    names: {
      event: [
        "response.audio.delta",
        "response.audio.done",
        "response.audio.transcript.delta",
        "response.audio.transcript.done",
        "response.code_interpreter_call_code.delta",
        "response.code_interpreter_call_code.done",
        "response.compaction.compacting",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_list_tools.completed",
        "response.mcp_list_tools.failed",
        "response.mcp_list_tools.in_progress",
        "response.reasoning_text.done",
        "response.shell_call_command.added",
        "response.shell_call_command.delta",
        "response.shell_call_command.done",
        "response.shell_call_output_content.delta",
        "response.shell_call_output_content.done",
      ],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: "No other protocol has such a reason: there, the response ends for another reason.",
    names: { stop: ["max_messages", "steered"] },
  },

  // OpenAI, services.
  {
    vendor: "OpenAI",
    protocol: "images",
    reason: REFUSED,
    names: {
      parameter: ["output_format=gif", "output_format=svg"],
      counter: [
        "svg_usage.input_tokens",
        "svg_usage.output_tokens",
        "svg_usage.reasoning_tokens",
        "svg_usage.total_tokens",
      ],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "images",
    reason: UNREAD,
    names: { parameter: ["complexity", "frame_count", "frame_duration_ms", "safety_identifier", "svg"] },
  },
  {
    vendor: "OpenAI",
    protocol: "images",
    reason: "The gateway writes this response itself, and leaves it out.",
    names: { answer: ["safety_identifier"] },
  },
  {
    vendor: "OpenAI",
    protocol: "videos",
    reason: "The gateway writes this response itself, and leaves it out.",
    names: { answer: ["misalignment"] },
  },
  {
    vendor: "OpenAI",
    protocol: "image edits",
    reason: REFUSED,
    names: { parameter: ["output_format=gif"] },
  },
  {
    vendor: "OpenAI",
    protocol: "image edits",
    reason: UNREAD,
    names: { parameter: ["complexity", "frame_count", "frame_duration_ms", "markup", "safety_identifier"] },
  },
  {
    vendor: "OpenAI",
    protocol: "image edits",
    reason: REFUSED,
    only: "Python",
    names: { parameter: ["output_format=svg"] },
  },
  {
    vendor: "OpenAI",
    protocol: "image edits",
    reason: UNREAD,
    only: "Python",
    names: { parameter: ["svg"] },
  },
  {
    vendor: "OpenAI",
    protocol: "transcriptions",
    reason: PASSED,
    names: {
      parameter: [
        "chunking_strategy",
        "include",
        "keywords",
        "known_speaker_names",
        "known_speaker_references",
        "languages",
      ],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "transcriptions",
    reason: "Details that clients receive only in the format in which the host sent them.",
    names: {
      answer: [
        "avg_logprob",
        "compression_ratio",
        "languages",
        "no_speech_prob",
        "seek",
        "segment_id",
        "transcript.text.segment",
      ],
      event: ["transcript.text.segment"],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "completions",
    reason: "Legacy completions are passed on unchanged, in both directions.",
    names: {
      parameter: [
        "echo",
        "frequency_penalty",
        "include_obfuscation",
        "logit_bias",
        "presence_penalty",
        "seed",
        "suffix",
        "top_p",
      ],
      answer: ["created", "system_fingerprint", "text_offset", "token_logprobs"],
    },
  },

  {
    vendor: "OpenAI",
    protocol: "moderations",
    reason: "The input of a moderation is passed on unchanged.",
    names: { item: ["image_url"] },
  },

  // Anthropic.
  {
    vendor: "Anthropic",
    protocol: "messages",
    reason: "Results of tools that no other protocol has; providers of the protocol receive and send them unchanged.",
    names: {
      content: [
        "advisor_tool_result",
        "bash_code_execution_tool_result",
        "browser_state",
        "code_execution_tool_result",
        "container_upload",
        "mcp_tool_listing",
        "mcp_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_removal",
        "web_fetch_tool_result",
      ],
      parameter: ["caller", "eager_input_streaming", "response_inclusion", "skills", "toolset_name"],
      answer: [
        "caller",
        "expires_at",
        "mcp_tool_reference",
        "mcp_toolset_reference",
        "server_name",
        "skills",
        "tool_definition",
        "tool_removal",
        "toolset_name",
      ],
    },
  },
  {
    vendor: "Anthropic",
    protocol: "messages",
    reason: "Compaction and context management, which providers of the protocol do for their own clients.",
    names: {
      content: ["compaction_delta"],
      stop: ["compaction"],
      parameter: ["clear_at", "summarize"],
      answer: ["applied_edits"],
    },
  },
  {
    vendor: "Anthropic",
    protocol: "messages",
    reason:
      "Credits and hints of the vendor's own fallbacks are passed on. The tokens that a response reports are billed.",
    names: {
      counter: ["fallback_credit.status=not_applied", "fallback_credit.status=redeemed"],
      answer: ["fallback_has_prefill_claim"],
    },
  },
  {
    vendor: "Anthropic",
    protocol: "messages",
    reason: NATIVE,
    names: {
      parameter: ["continue", "diagnostics", "task_budget", "transformations"],
      answer: ["estimated_tokens", "input_transformations"],
    },
  },
  {
    vendor: "Anthropic",
    protocol: "messages",
    reason: NOT_FORWARDED,
    names: { parameter: ["user_profile_id", "workspace_id"] },
  },
  {
    vendor: "Anthropic",
    protocol: "messages",
    reason:
      "Bills a customer of the vendor whom a header names. The header is not forwarded, so the vendor refuses such a request instead of billing it.",
    names: { parameter: ["billing_policy"] },
  },

  // Google.
  {
    vendor: "Google",
    protocol: "genai",
    reason:
      "Sound that is transcribed or cloned within a call; providers of the protocol receive and send it unchanged.",
    names: {
      parameter: ["audioTranscriptionConfig", "voiceConsentSignature"],
    },
  },
  {
    vendor: "Google",
    protocol: "genai",
    reason:
      "A response that ends at a limit of the host and can be continued is a feature of some models, and is not served.",
    names: {
      parameter: ["automaticContinuation"],
    },
  },
  {
    vendor: "Google",
    protocol: "genai",
    reason: NATIVE,
    names: {
      parameter: [
        "enableEnhancedCivicAnswers",
        "featureSelectionPreference",
        "generationOutputConfig",
        "includeServerSideToolInvocations",
        "modelArmorConfig",
        "personGeneration",
        "prominentPeople",
        "retrievalConfig",
        "streamFunctionCallArguments",
      ],
    },
  },
  {
    vendor: "Google",
    protocol: "genai",
    reason: DETAIL,
    names: {
      answer: [
        "avgLogprobs",
        "confidenceScores",
        "customMetadata",
        "imageUri",
        "license",
        "logProbabilitySum",
        "mediaId",
        "modelStatus",
        "overwrittenThreshold",
        "pageNumber",
        "partIndex",
        "placeAnswerSources",
        "placeId",
        "probability",
        "probabilityScore",
        "publicationDate",
        "ragChunk",
        "renderedParts",
        "retrievalMetadata",
        "retrievalQueries",
        "retrievedUrl",
        "route",
        "searchEntryPoint",
        "severity",
        "severityScore",
        "sourceFlaggingUris",
        "sourceUri",
        "tokenId",
        "urlRetrievalStatus",
      ],
    },
  },
  {
    vendor: "Google",
    protocol: "images",
    reason: "The SDK's own name for a field that has another on the wire.",
    names: { parameter: ["numberOfImages", "safetyFilterLevel"] },
  },
  {
    vendor: "Google",
    protocol: "videos",
    reason: "The SDK's own name for a field that has another on the wire.",
    names: { parameter: ["imageBytes", "numberOfVideos"] },
  },
  {
    vendor: "Google",
    protocol: "videos",
    reason: "The gateway polls the provider itself, and has operations for its clients.",
    names: { parameter: ["webhookConfig"] },
  },

  {
    vendor: "Google",
    protocol: "images",
    reason: UNREAD,
    names: { parameter: ["baseSteps", "includeSafetyAttributes"] },
  },
  {
    vendor: "Google",
    protocol: "embeddings",
    reason: "An option of few models, which is noted as not sent.",
    names: { parameter: ["audioTrackExtraction", "documentOcr"] },
  },

  // Interactions.
  {
    vendor: "Google",
    protocol: "interactions",
    reason:
      "Steps of hosted tools, whose uses are counted. Providers of the protocol receive and send them unchanged, others do not have them.",
    names: {
      item: [
        "code_execution_call",
        "code_execution_result",
        "file_search_call",
        "file_search_result",
        "google_maps_call",
        "google_maps_result",
        "google_search_call",
        "google_search_result",
        "mcp_server_tool_call",
        "mcp_server_tool_result",
        "processing_call",
        "processing_result",
        "retrieval_call",
        "retrieval_result",
        "url_context_call",
        "url_context_result",
      ],
      content: [
        "code_execution_call",
        "code_execution_result",
        "file_search_call",
        "file_search_result",
        "google_maps_call",
        "google_maps_result",
        "google_search_call",
        "google_search_result",
        "mcp_server_tool_call",
        "mcp_server_tool_result",
        "processing_call",
        "processing_result",
        "retrieval_call",
        "retrieval_result",
        "url_context_call",
        "url_context_result",
      ],
    },
  },
  {
    vendor: "Google",
    protocol: "interactions",
    reason: "Agents, environments and webhooks are refused, with the path of the field.",
    names: {
      parameter: ["antigravity", "code-mender", "deep-research", "remote", "uris", "user_metadata"],
      answer: ["environment_id"],
    },
  },
  {
    vendor: "Google",
    protocol: "interactions",
    reason: "Agents, environments and webhooks are refused, with the path of the field.",
    only: "Python",
    names: { answer: ["antigravity", "code-mender", "deep-research"] },
  },
  {
    vendor: "Google",
    protocol: "interactions",
    reason: "A host continues only what it stores itself; the response is returned as incomplete.",
    names: { answer: ["continuation_ids"] },
  },
  {
    vendor: "Google",
    protocol: "interactions",
    reason: NATIVE,
    names: {
      parameter: [
        "civic_integrity",
        "dangerous_content",
        "harassment",
        "hate_speech",
        "image_dangerous_content",
        "image_harassment",
        "image_hate",
        "image_sexually_explicit",
        "jailbreak",
        "sexually_explicit",
      ],
    },
  },
  {
    vendor: "Google",
    protocol: "interactions",
    reason: DETAIL,
    names: {
      answer: ["custom_metadata", "media_id", "page_number", "place_citation", "rate", "speech_metadata", "word_info"],
      parameter: ["place_citation", "speech_metadata", "word_info"],
    },
  },

  // Headers.
  {
    vendor: "OpenAI",
    protocol: "HTTP",
    reason: "The gateway answers with retry-after, which the SDK reads as well.",
    names: { header: ["retry-after-ms"] },
  },
  {
    vendor: "Anthropic",
    protocol: "HTTP",
    reason: "The gateway answers with retry-after, which the SDK reads as well.",
    names: { header: ["retry-after-ms"] },
  },
  {
    vendor: "Google",
    protocol: "HTTP",
    reason: "The gateway answers with retry-after, which the SDK reads as well.",
    names: { header: ["retry-after-ms"] },
  },
  {
    vendor: "OpenAI",
    protocol: "HTTP",
    reason: "The gateway has its own request ids.",
    names: { header: ["x-client-request-id"] },
  },
  {
    vendor: "Anthropic",
    protocol: "HTTP",
    reason: NOT_FORWARDED,
    names: {
      header: [
        "anthropic-organization-id",
        "anthropic-user-profile-id",
        "anthropic-worker-id",
        "anthropic-workspace-id",
      ],
    },
  },
  {
    vendor: "Anthropic",
    protocol: "HTTP",
    reason: "Tells the vendor that a key in a browser is intended; the gateway has its own rules for browsers.",
    names: { header: ["anthropic-dangerous-direct-browser-access"] },
  },
  {
    vendor: "Google",
    protocol: "HTTP",
    reason: "Settings of the client's own account or deadline; the gateway has its own.",
    names: { header: ["x-goog-user-project", "x-server-timeout"] },
  },

  // Endpoints.
  {
    vendor: "OpenAI",
    protocol: "HTTP",
    reason: "Files, batches and stored objects of the provider's account.",
    names: {
      endpoint: ["/v1/containers", "/v1/vector_stores", "/v1/vaults"],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "HTTP",
    reason: "Live connections other than conversations with a model: calls, translations, transcriptions.",
    names: {
      endpoint: [
        "/v1/live",
        "/v1/realtime/calls",
        "/v1/realtime/sessions",
        "/v1/realtime/transcription_sessions",
        "/v1/realtime/translations",
      ],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "HTTP",
    reason: "Agents, assistants and skills.",
    names: { endpoint: ["/v1/agents", "/v1/assistants", "/v1/chatkit", "/v1/skills", "/v1/threads"] },
  },
  {
    vendor: "OpenAI",
    protocol: "HTTP",
    reason: "The administration of the provider's account, and training.",
    names: {
      endpoint: [
        "/v1/evals",
        "/v1/fine_tuning",
        "/v1/organization",
        "/v1/projects",
        "/v1/safety",
        "/v1/webhook_endpoints",
        "/v1/webhook_event_types",
        "DELETE /v1/models/{}",
      ],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "HTTP",
    reason: ANOTHER_API,
    names: {
      endpoint: [
        "/v1/audio/voice_consents",
        "/v1/audio/voices",
        "/v1/content_provenance_checks",
        "/v1/decisions",
        "/v1/images/variations",
      ],
    },
  },
  {
    vendor: "Anthropic",
    protocol: "HTTP",
    reason: "Agents, skills and user profiles.",
    names: {
      endpoint: [
        "/v1/agents",
        "/v1/deployment_runs",
        "/v1/deployments",
        "/v1/dreams",
        "/v1/environments",
        "/v1/memory_stores",
        "/v1/sessions",
        "/v1/skills",
        "/v1/tunnels",
        "/v1/user_profiles",
        "/v1/vaults",
      ],
    },
  },
  {
    vendor: "Anthropic",
    protocol: "HTTP",
    reason: "The administration of the provider's account.",
    names: { endpoint: ["/v1/organizations"] },
  },
  {
    vendor: "Google",
    protocol: "HTTP",
    reason: "The Interactions API, and its agents.",
    names: { endpoint: ["agents", "credentials", "environments", "triggers", "webhooks"] },
  },
  {
    vendor: "Google",
    protocol: "HTTP",
    reason: "Files, batches and stored objects of the provider's account.",
    names: {
      endpoint: [
        "batchPredictionJobs",
        "fileSearchStores",
        "files:register",
        "upload",
        "{}/documents",
        "{}:asyncBatchEmbedContent",
        "{}:importFile",
      ],
    },
  },
  {
    vendor: "Google",
    protocol: "HTTP",
    reason: "Training, and tokens of live connections.",
    names: {
      endpoint: ["auth_tokens", "tunedModels", "tuningJobs", "{}/tuningJobs:validateReinforcementTuningReward"],
    },
  },
  {
    vendor: "Google",
    protocol: "HTTP",
    reason: ANOTHER_API,
    names: { endpoint: ["voices", "{}:computeTokens"] },
  },
  {
    vendor: "Google",
    protocol: "HTTP",
    reason: "Operations of the provider's account. Those of videos are polled through their model.",
    only: "Python",
    names: { endpoint: ["operations"] },
  },
  {
    vendor: "Anthropic",
    protocol: "messages",
    reason: NATIVE,
    names: { content: ["tool_search_tool_result_error", "tool_search_tool_search_result"] },
  },
  {
    vendor: "OpenAI",
    protocol: "responses",
    reason: DETAIL,
    names: {
      answer: [
        "approval_request_id",
        "http_error",
        "mcp_protocol_error",
        "mcp_tool_execution_error",
        "direct",
        "caller_id",
      ],
      parameter: ["direct"],
    },
  },
  {
    vendor: "OpenAI",
    protocol: "chat",
    reason: NATIVE,
    names: { parameter: ["policy"] },
  },
  {
    vendor: "Google",
    protocol: "genai",
    reason: DETAIL,
    names: { answer: ["speakerLabel", "style"], parameter: ["speakerLabel", "style"] },
  },
  {
    vendor: "OpenAI",
    protocol: "HTTP",
    reason: "Characters belong to a vendor's account; the error says what to use instead.",
    names: { endpoint: ["/v1/videos/characters"] },
  },
];
