/** What is kept of a suspended call: every member of a record is typed, and all of it is JSON. */
import type { ApprovalRequest, JsonObject, SuspendedApproval } from '../../src/index.ts';
import { fits, given, same } from './proof.ts';

const record = given<SuspendedApproval>();
same<typeof record.id, string>(true);
same<typeof record.sessionId, string>(true);
same<typeof record.principal, string>(true);
same<typeof record.expiresAt, number>(true);
same<typeof record.token, string>(true);
same<typeof record.input, JsonObject>(true);
same<typeof record.idempotencyKey, string>(true);
same<typeof record.request.tool.name, string>(true);
same<typeof record.request.hiddenFields, readonly string[]>(true);
fits<ApprovalRequest>(record.request);

// @ts-expect-error there is no such member
record.user.length;

fits<JsonObject>(record);
