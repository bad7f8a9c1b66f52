/** What a store is given to keep: every member of a record is typed, and all of it is JSON. */
import type {
  AnsweredApproval,
  ApprovalRecord,
  ApprovalRequest,
  ApprovalStore,
  JsonObject,
  SuspendedApproval,
} from '../../src/index.ts';
import { fits, given, same } from './proof.ts';

const record = given<ApprovalRecord>();
same<typeof record.id, string>(true);
same<typeof record.sessionId, string>(true);
same<typeof record.principal, string>(true);
same<typeof record.expiresAt, number>(true);

// Only a mark has `used`.
if ('used' in record) same<typeof record, AnsweredApproval>(true);
else {
  same<typeof record, SuspendedApproval>(true);
  same<typeof record.token, string>(true);
  same<typeof record.input, JsonObject>(true);
  same<typeof record.idempotencyKey, string>(true);
  same<typeof record.request.tool.name, string>(true);
  same<typeof record.request.hiddenFields, readonly string[]>(true);
  fits<ApprovalRequest>(record.request);
}

// @ts-expect-error a call and a mark have no such member in common
record.token.length;
// @ts-expect-error there is no such member at all
record.user.length;

// A store may keep records as plain JSON.
fits<JsonObject>(record);
const rows = new Map<string, JsonObject>();
fits<ApprovalStore>({
  put: (one) => void rows.set(one.id, one),
  take(id) {
    const row = rows.get(id);
    rows.delete(id);
    return row;
  },
  list: (sessionId) => [...rows.values()].filter((row) => row.sessionId === sessionId),
});

// A store may keep them as they are typed, too.
const typed = new Map<string, ApprovalRecord>();
fits<ApprovalStore>({
  put: (one) => void typed.set(one.id, one),
  take: (id) => typed.get(id),
  list: (sessionId) => [...typed.values()].filter((one) => one.sessionId === sessionId),
});
