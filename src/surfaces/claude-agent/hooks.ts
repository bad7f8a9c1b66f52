/**
 * The agent's hooks. They ask before a call, and are informed how it ended. None of them throws.
 */
import type {
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  HookJSONOutput,
} from '@anthropic-ai/claude-agent-sdk';
import { serializeOutput } from '../../core/serialize.ts';
import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { describe, messageOf } from '../../values/errors/index.ts';
import {
  canonicalJson,
  copyJson,
  type JsonValue,
  wellFormedJson,
} from '../../values/json/index.ts';
import { define, isJsonObject } from '../../values/json/value.ts';
import { wroteIt } from '../agents/claude-code/claude-code.ts';
import type { Permissions } from './permissions.ts';

type Event<Name extends HookEvent> = Extract<HookInput, { hook_event_name: Name }>;

/** Most seconds that an answer may take in addition to the time for the decision. */
const spareSeconds = 30;

/** The hooks for `query`. @param decisionTimeoutMs The longest that a decision may take */
export function hooksOf(
  session: ToolSession,
  permissions: Permissions,
  decisionTimeoutMs: number,
): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
  const { leave } = permissions;
  // If a hook takes too long, the call runs. So it answers before its time is over.
  const timeout = Math.ceil(decisionTimeoutMs / 1_000) + spareSeconds;
  const before = on(
    'PreToolUse',
    (event, signal) => askBefore(permissions, event, signal),
    (error) => deny(`The hook failed: ${messageOf(error)}`),
  );
  return {
    PreToolUse: [{ hooks: [before], timeout, onFailure: 'block' }],
    PostToolUse: [
      {
        hooks: [
          on(
            'PostToolUse',
            (event) => settle(permissions, event),
            (error, event) =>
              withhold(`The hook failed: ${messageOf(error)}`, event?.tool_response),
          ),
        ],
      },
    ],
    PostToolUseFailure: only(
      on('PostToolUseFailure', ({ tool_use_id: id, error }) => {
        const text = typeof error === 'string' && error.trim() !== '' ? error : 'It failed.';
        return permissions.settle(id, { error: text })?.then(() => ({}));
      }),
    ),
    PostToolBatch: only(
      on('PostToolBatch', ({ tool_calls: calls }) => {
        const ended = new Set(calls.map(({ tool_use_id: id }) => id));
        leave((id) => ended.has(id));
        return undefined;
      }),
    ),
    ...endsOf(leave),
    UserPromptSubmit: only(
      on('UserPromptSubmit', ({ prompt, source }) => {
        // Tasks and timers also submit prompts, which no person wrote.
        if (wroteIt(source, prompt)) inspectSession(session).heard(prompt, 'user');
        return undefined;
      }),
    ),
  };
}

/** A hook for one event. @param failed The answer if `run` rejects */
function on<Name extends HookEvent>(
  name: Name,
  run: (event: Event<Name>, signal: AbortSignal) => Promise<HookJSONOutput> | undefined,
  failed: (error: unknown, event: Event<Name> | undefined) => HookJSONOutput = () => ({}),
): HookCallback {
  return async (input, _id, options) => {
    try {
      const { signal } = options;
      const { hook_event_name: given } = input;
      if (given !== name) throw new TypeError(`Expected a ${name} event, got ${describe(given)}.`);
      return (await run(input as Event<Name>, signal)) ?? {};
    } catch (error) {
      return failed(error, input as Event<Name>);
    }
  };
}

/** When an agent stops, the calls that it has not run will not run. */
function endsOf(leave: Permissions['leave']): Partial<Record<HookEvent, HookCallbackMatcher[]>> {
  const stopped = (sessionId: string, agentId: string | undefined): undefined =>
    void leave(
      (_, asker) =>
        asker !== undefined && asker.sessionId === sessionId && asker.agentId === agentId,
    );
  return {
    Stop: only(on('Stop', (event) => stopped(event.session_id, undefined))),
    StopFailure: only(on('StopFailure', (event) => stopped(event.session_id, undefined))),
    SubagentStop: only(on('SubagentStop', (event) => stopped(event.session_id, event.agent_id))),
    SessionEnd: only(
      on(
        'SessionEnd',
        ({ session_id: ended }) =>
          void leave((_, asker) => asker === undefined || asker.sessionId === ended),
      ),
    ),
  };
}

function only(hook: HookCallback): HookCallbackMatcher[] {
  return [{ hooks: [hook] }];
}

async function askBefore(
  permissions: Permissions,
  event: Event<'PreToolUse'>,
  signal: AbortSignal,
): Promise<HookJSONOutput> {
  const decision = await permissions.decide({
    id: event.tool_use_id,
    tool: event.tool_name,
    input: event.tool_input,
    provenance: event.mcp_server,
    signal,
    cwd: event.cwd,
    asker: { sessionId: event.session_id, agentId: event.agent_id },
  });
  switch (decision.kind) {
    case 'own':
      return {};
    case 'denied':
      return deny(decision.reason);
    case 'allowed':
      return {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'allow',
          ...(decision.isChanged ? { updatedInput: { ...decision.input } } : {}),
        },
      };
  }
}

function deny(reason: string): HookJSONOutput {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason.toWellFormed(),
    },
  };
}

/** Ends the call. The model reads what the session makes of the output. */
async function settle(
  permissions: Permissions,
  { tool_use_id: id, tool_response: response }: Event<'PostToolUse'>,
): Promise<HookJSONOutput> {
  const copy = copyJson(response ?? null, { maxDepth: 64, maxValues: 1_000_000 });
  const result = await permissions.settle(
    id,
    copy.ok ? { output: copy.value } : { error: 'Its output is not JSON.' },
  );
  if (result === undefined) return {};
  if (!result.success) return withhold(serializeOutput(result), response);
  const output = (result.output ?? null) as JsonValue;
  if (copy.ok && canonicalJson(output) === canonicalJson(copy.value)) return {};
  return replaceOutput(
    typeof output === 'string' && copy.ok ? inShapeOf(copy.value, output) : output,
  );
}

/** The model reads the reason in place of the output. */
function withhold(reason: string, response: unknown): HookJSONOutput {
  const copy = copyJson(response ?? null, { maxDepth: 64, maxValues: 1_000_000 });
  const shown = copy.ok ? inShapeOf(copy.value, reason) : reason;
  return { ...replaceOutput(shown), decision: 'block', reason: reason.toWellFormed() };
}

function replaceOutput(output: JsonValue): HookJSONOutput {
  const updatedToolOutput = wellFormedJson(output);
  return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } };
}

// Text that replaces an output. Claude Code accepts another output only if it has the form of the
// tool's own, and otherwise shows the model the original one.

/** A copy in which `text` replaces the longest text, and every other text is empty. */
function inShapeOf(output: JsonValue, text: string): JsonValue {
  const longest = longestText(output, undefined);
  let isPlaced = false;
  const copy = (value: JsonValue, key: string | undefined): JsonValue => {
    if (typeof value === 'string') {
      if (key === kind) return value;
      if (isPlaced || value !== longest) return '';
      isPlaced = true;
      return text;
    }
    if (Array.isArray(value)) return value.map((item) => copy(item, undefined));
    if (!isJsonObject(value)) return value;
    const made: Record<string, JsonValue> = {};
    for (const name of Object.keys(value)) define(made, name, copy(value[name] as JsonValue, name));
    return made;
  };
  return longest === undefined ? text : copy(output, undefined);
}

/** The member that says which form an output has, such as `text` or `image`. */
const kind = 'type';

function longestText(value: JsonValue, key: string | undefined): string | undefined {
  if (typeof value === 'string') return key === kind ? undefined : value;
  let longest: string | undefined;
  const see = (text: string | undefined): void => {
    if (text !== undefined && (longest === undefined || text.length > longest.length))
      longest = text;
  };
  if (Array.isArray(value)) for (const item of value) see(longestText(item, undefined));
  else if (isJsonObject(value))
    for (const name of Object.keys(value)) see(longestText(value[name] as JsonValue, name));
  return longest;
}
