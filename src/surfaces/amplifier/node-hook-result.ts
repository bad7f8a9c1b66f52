/**
 * Converts hook results between the two spellings of the Node binding. Handlers answer in lower
 * snake case, and `emit` resolves to PascalCase.
 */
import type { HookAction, HookResult } from '../../core.ts';
import { wireText } from '../../values/json/index.ts';
import type { NodeHookResult } from './node-binding-port.ts';

/** The JSON text for `continue`, the answer of a handler that returns nothing. */
export const continueJson = '{"action":"continue"}';

/** The reason of the deny for an answer that cannot be read. */
const invalidAnswer = 'Hook handler returned invalid response';

const fields = [
  'reason',
  'context_injection',
  'context_injection_role',
  'ephemeral',
  'append_to_last_tool_result',
  'suppress_output',
  'user_message',
  'user_message_level',
  'user_message_source',
  'approval_prompt',
  'approval_options',
  'approval_timeout',
  'approval_default',
] as const satisfies (keyof HookResult)[];

const actions: ReadonlyMap<unknown, HookAction> = new Map<unknown, HookAction>([
  ['continue', 'continue'],
  ['deny', 'deny'],
  ['modify', 'modify'],
  ['inject_context', 'inject_context'],
  ['ask_user', 'ask_user'],
  ['Continue', 'continue'],
  ['Deny', 'deny'],
  ['Modify', 'modify'],
  ['InjectContext', 'inject_context'],
  ['AskUser', 'ask_user'],
]);

/** The JSON text for a deny. */
export function denyJson(reason: string): string {
  return wireText({ action: 'deny', reason });
}

/**
 * The JSON text for a handler's answer. No answer means `continue`. An answer without a known
 * action, or one that JSON cannot represent, is a deny: the runtime would treat it as one, and a
 * hook that tries to stop something must not be ignored. PascalCase actions are accepted.
 */
export function answerJson(answer: unknown): string {
  if (answer === undefined || answer === null) return continueJson;
  try {
    const given = answer as Partial<Record<string, unknown>>;
    const action = actions.get(given.action);
    if (action === undefined) return denyJson(invalidAnswer);
    const result: Record<string, unknown> = { action, data: given.data ?? undefined };
    for (const field of fields) result[field] = given[field] ?? undefined;
    return wireText(result);
  } catch {
    return denyJson(invalidAnswer);
  }
}

/**
 * Converts the result of the binding's `emit` to the port's spelling, and adds the event's data if
 * it is known. An unknown action becomes a deny.
 */
export function readNodeResult(
  node: NodeHookResult,
  data: Readonly<Record<string, unknown>> | undefined,
): HookResult {
  const action = actions.get(node.action);
  if (action === undefined)
    return { action: 'deny', reason: `Unknown hook action ${String(node.action)}` };
  return {
    action,
    data: action === 'continue' ? data : null,
    reason: node.reason ?? null,
    context_injection: node.contextInjection ?? null,
    context_injection_role: lower(
      node.contextInjectionRole,
      ['system', 'user', 'assistant'],
      'system',
    ),
    ephemeral: node.ephemeral ?? false,
    suppress_output: node.suppressOutput ?? false,
    user_message: node.userMessage ?? null,
    user_message_level: lower(node.userMessageLevel, ['info', 'warning', 'error'], 'info'),
    user_message_source: node.userMessageSource ?? null,
    approval_prompt: node.approvalPrompt ?? null,
    approval_timeout: node.approvalTimeout ?? 300,
    approval_default: lower(node.approvalDefault, ['allow', 'deny'], 'deny'),
  };
}

function lower<const T extends string>(
  value: string | undefined,
  allowed: readonly T[],
  otherwise: NoInfer<T>,
): T {
  const text = value?.toLowerCase();
  return allowed.find((candidate) => candidate === text) ?? otherwise;
}
