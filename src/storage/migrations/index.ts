import { firstTables } from "./0001-first-tables.ts";
import { strictKeys } from "./0002-strict-keys.ts";
import { receiptsInOrder } from "./0003-receipts-in-order.ts";
import { files } from "./0004-files.ts";
import { imageTokens } from "./0005-image-tokens.ts";
import { operations } from "./0006-operations.ts";
import { audioTokens } from "./0007-audio-tokens.ts";
import { instances } from "./0008-instances.ts";
import { routing } from "./0009-routing.ts";
import { answers } from "./0010-answers.ts";
import { speech } from "./0011-speech.ts";
import { writers } from "./0012-writers.ts";
import { operators } from "./0013-operators.ts";
import { prices } from "./0014-prices.ts";
import { sharedLimits } from "./0015-shared-limits.ts";
import { accounts } from "./0016-accounts.ts";
import { rollUps } from "./0017-roll-ups.ts";
import { intents } from "./0018-intents.ts";
import { operatorLinks } from "./0019-operator-links.ts";
import { rolledUp } from "./0020-rolled-up.ts";
import { idsByBytes } from "./0021-ids-by-bytes.ts";
import { alerts } from "./0022-alerts.ts";
import { tags } from "./0023-tags.ts";
import { receiptKinds } from "./0024-receipt-kinds.ts";
import { captures } from "./0025-captures.ts";
import { timingAndRefusals } from "./0026-timing-and-refusals.ts";
import { objects } from "./0027-objects.ts";
import { unpriced } from "./0028-unpriced.ts";
import { keyChanges } from "./0029-key-changes.ts";
import { catalogueUpdates } from "./0030-catalogue-updates.ts";
import { videoSharing } from "./0031-video-sharing.ts";
import { objectBlobs } from "./0032-object-blobs.ts";
import { batches } from "./0033-batches.ts";
import { nativeBatches } from "./0034-native-batches.ts";
import { conversations } from "./0035-conversations.ts";
import { batchReceipts } from "./0037-batch-receipts.ts";
import { providerFiles } from "./0038-provider-files.ts";
import { liveSecrets } from "./0039-live-secrets.ts";
import { people } from "./0041-people.ts";
import { endUsers } from "./0043-end-users.ts";
import { exports } from "./0047-exports.ts";
import { answerCache } from "./0048-answer-cache.ts";
import { questions } from "./0049-questions.ts";
import { keptRequests } from "./0060-kept-requests.ts";
import { instanceDays } from "./0067-instance-days.ts";
import type { Migration } from "./migration.ts";

/** Every migration, in order. One that has been released is never changed; a later one corrects it. */
export const MIGRATIONS: readonly Migration[] = [
  firstTables,
  strictKeys,
  receiptsInOrder,
  files,
  imageTokens,
  operations,
  audioTokens,
  instances,
  routing,
  answers,
  speech,
  writers,
  operators,
  prices,
  sharedLimits,
  accounts,
  rollUps,
  intents,
  operatorLinks,
  rolledUp,
  idsByBytes,
  alerts,
  tags,
  receiptKinds,
  captures,
  timingAndRefusals,
  objects,
  unpriced,
  keyChanges,
  catalogueUpdates,
  videoSharing,
  objectBlobs,
  batches,
  nativeBatches,
  conversations,
  batchReceipts,
  providerFiles,
  liveSecrets,
  people,
  endUsers,
  exports,
  answerCache,
  questions,
  keptRequests,
  instanceDays,
];
