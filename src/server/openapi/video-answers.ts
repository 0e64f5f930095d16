import { Type } from "../../base/type.ts";

const name = Type.String({ examples: ["publishers/sim/models/video/operations/8fJQ2m0vT4y1Zc7xLw3nRA"] });
const failure = { code: Type.Integer({ description: "A google.rpc.Code." }), message: Type.String() };

/** The response to a submit. */
export const OperationName = Type.Object({ name }, { title: "OperationName" });

/** Contract 2.2. */
export const VideoOperation = Type.Object(
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
    response: Type.Optional(
      Type.Object({
        "@type": Type.String(),
        videos: Type.Array(
          Type.Object({
            gcsUri: Type.Optional(
              Type.String({ format: "uri", description: "A signed URL; valid for 48 hours, without a key." }),
            ),
            bytesBase64Encoded: Type.Optional(Type.String({ description: "With `x-trivium-media: inline`." })),
            mimeType: Type.String({ examples: ["video/mp4"] }),
          }),
        ),
        raiMediaFilteredCount: Type.Optional(Type.Integer({ minimum: 1 })),
        raiMediaFilteredReasons: Type.Optional(Type.Array(Type.String())),
      }),
    ),
    error: Type.Optional(Type.Object(failure)),
  },
  { title: "VideoOperation" },
);
