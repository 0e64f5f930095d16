import type { TSchema } from "typebox";
import { Type } from "../../base/type.ts";

const name = Type.String({ examples: ["publishers/sim/models/video/operations/8fJQ2m0vT4y1Zc7xLw3nRA"] });
const failure = { code: Type.Integer({ description: "A google.rpc.Code." }), message: Type.String() };

/** The response to a submit. */
export const OperationName = Type.Object({ name }, { title: "OperationName" });

const MP4 = { examples: ["video/mp4"] };
const signedUrl = Type.Optional(
  Type.String({ format: "uri", description: "A signed URL; valid for 48 hours, without a key." }),
);
const inlineVideo = Type.Optional(Type.String({ description: "With `x-trivium-media: inline`." }));
const blocked = {
  raiMediaFilteredCount: Type.Optional(Type.Integer({ minimum: 1 })),
  raiMediaFilteredReasons: Type.Optional(Type.Array(Type.String())),
};

const operation = (title: string, response: TSchema) =>
  Type.Object(
    {
      name,
      done: Type.Optional(Type.Boolean({ description: "Absent while the operation is in progress." })),
      metadata: Type.Optional(
        Type.Object({
          progressPercent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
          failures: Type.Optional(
            Type.Array(Type.Object(failure), {
              description: "Why some videos were not generated, while others were.",
            }),
          ),
        }),
      ),
      response: Type.Optional(response),
      error: Type.Optional(Type.Object(failure)),
    },
    { title },
  );

/** Contract 2.2. */
export const VideoOperation = operation(
  "VideoOperation",
  Type.Object({
    "@type": Type.String(),
    videos: Type.Array(Type.Object({ gcsUri: signedUrl, bytesBase64Encoded: inlineVideo, mimeType: Type.String(MP4) })),
    ...blocked,
  }),
);

/** The same operation with the samples of the vendor's public API. */
export const VideoSamples = operation(
  "VideoSamplesOperation",
  Type.Object({
    "@type": Type.String(),
    generateVideoResponse: Type.Object({
      generatedSamples: Type.Array(
        Type.Object({
          video: Type.Object({ uri: signedUrl, encodedVideo: inlineVideo, encoding: Type.String(MP4) }),
          encoding: Type.String(MP4),
        }),
      ),
      ...blocked,
    }),
  }),
);
