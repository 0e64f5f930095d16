import OpenAi7 from "openai";
import OpenAi5 from "openai-5";
import type { AnswerPromise, ChatErrors, ChatSetup } from "../sdk/openai-clients.ts";

/** What the scenarios use of a client. Both generations with image streams are assignable to it. */
interface ImagesClient {
  images: { generate: Ask<GenerateBody>; edit: Ask<EditBody> };
}

interface Ask<Body> {
  (body: Body & { stream?: false }, options?: AskOptions): AnswerPromise<ImagesAnswer>;
  (body: Body & { stream: true }, options?: AskOptions): AnswerPromise<AsyncIterable<ImageEvent>>;
}

interface AskOptions {
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

interface SharedBody {
  model: string;
  prompt: string;
  n?: number;
  size?: "1024x1024" | "1536x1024" | "1024x1536" | "auto";
  quality?: "low" | "medium" | "high" | "auto";
  background?: "transparent" | "opaque" | "auto";
  output_format?: "png" | "jpeg" | "webp";
  output_compression?: number;
  partial_images?: number;
}

interface GenerateBody extends SharedBody {
  moderation?: "low" | "auto";
}

interface EditBody extends SharedBody {
  image: File | File[];
  mask?: File;
  input_fidelity?: "high" | "low";
}

export interface ImagesAnswer {
  created: number;
  data?: { b64_json?: string; revised_prompt?: string }[];
  background?: string;
  output_format?: string;
  quality?: string;
  size?: string;
  usage?: ImagesUsage;
}

interface ImagesUsage {
  input_tokens: number;
  input_tokens_details: { image_tokens: number; text_tokens: number };
  output_tokens: number;
  total_tokens: number;
}

export interface ImageEvent {
  type: string;
  b64_json: string;
  created_at: number;
  background: string;
  output_format: string;
  quality: string;
  size: string;
  partial_image_index?: number;
  usage?: ImagesUsage;
}

export interface OpenaiImages {
  version: string;
  errors: ChatErrors;
  connect(setup: ChatSetup): ImagesClient;
}

export const OPENAI_IMAGES: readonly OpenaiImages[] = [
  { version: "7", errors: OpenAi7, connect: (setup) => new OpenAi7(setup) },
  { version: "5", errors: OpenAi5, connect: (setup) => new OpenAi5(setup) },
];

/** Both doors have the same paths below them. */
export const IMAGE_DOORS = ["/api/v1", "/v1"] as const;
