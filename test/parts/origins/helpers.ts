import type { Origin, OutputOrigin } from '../../../src/api/origins.ts';
import type { SlotHolder } from '../../../src/core/slot.ts';
import {
  type CallOrigins,
  type OriginJudge,
  ofCall,
} from '../../../src/parts/origins/call-origins.ts';
import { outputLabels } from '../../../src/parts/origins/output-labels.ts';
import { createOriginRecord, type OriginRecord } from '../../../src/parts/origins/record.ts';
import { SessionOrigins } from '../../../src/parts/origins/session-origins.ts';
import { ofSession } from '../../../src/parts/origins/session-port.ts';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';

/** A call whose rules ask this judge where its values came from. */
export function callJudgedBy(judge: OriginJudge): object {
  const session: SlotHolder = { slots: undefined };
  const more: SlotHolder = { slots: undefined };
  ofSession.set(session, new SessionOrigins(undefined, false));
  ofCall.set(more, judge as CallOrigins);
  return { session, more };
}

/** Every record of a test has the same hashes. */
export function newRecord(maxChars?: number): OriginRecord {
  return createOriginRecord({ seed: 1, maxChars });
}

/** A record in which the user has written these texts. */
export function saidRecord(...texts: readonly string[]): OriginRecord {
  const record = newRecord();
  for (const text of texts) record.said(text);
  return record;
}

export interface Shown {
  readonly callId?: string;
  readonly toolName?: string;
  readonly origin?: OutputOrigin;
  readonly paths?: Readonly<Record<string, OutputOrigin>>;
  readonly schema?: JsonObject;
  readonly input?: JsonValue;
}

/** Shows the model an output of a tool, which is untrusted unless said otherwise. */
export function show(record: OriginRecord, value: JsonValue, shown: Shown = {}): OriginRecord {
  const { callId = '1', toolName = 'read', origin = 'untrusted', paths, schema, input } = shown;
  record.output(value, {
    callId,
    toolName,
    labels: outputLabels({ origin, paths, schema }),
    given: input === undefined ? undefined : { input },
  });
  return record;
}

/** The origin of a value after the user has written a text. */
export function originAfter(text: string, value: string): Origin {
  return saidRecord(text).originOf(value).origin;
}
