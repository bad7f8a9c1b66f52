/** The options of a session, checked and copied. */

import type { Approver } from '../../api/context.ts';
import type { Hook, Policy } from '../../api/policy.ts';
import type { Limits } from '../../api/profile.ts';
import type { Overrides } from '../../api/session-options.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { SlotHolder } from '../slot.ts';

/** The checked options from which a session's state is created. */
export interface SessionSetup extends SlotHolder {
  readonly sessionId: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly principal: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly services: unknown;
  readonly profileId: string | undefined;
  readonly facts: JsonObject;
  readonly overrides: Overrides | undefined;
  readonly rules: readonly CompiledRule[];
  readonly policies: readonly Policy<unknown>[];
  readonly hooks: readonly Hook[];
  readonly approver: Approver | undefined;
  readonly approvalMode: 'ask' | 'suspend';
  readonly approvalTimeoutMs: number;
  readonly repair: 'off' | 'safe';
  readonly exposeErrors: 'message' | 'masked' | undefined;
  readonly limits: Limits;
  readonly idleTimeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}
