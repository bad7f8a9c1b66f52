/** Which of the agent's own calls may run. Each is decided once, however often the agent asks. */
import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk';
import type { Authorization, ExternalOutcome, ToolResult, ToolSession } from '../../core.ts';
import { messageOf } from '../../values/errors/index.ts';
import { canonicalJson, copyJson, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { refusal } from '../agents/decide.ts';
import type { BuiltInTools, OwnTools, Provenance } from './claude-tools.ts';

/** One use of a tool. Data from the SDK is checked. */
export interface ToolUse {
  readonly id: unknown;
  readonly tool: unknown;
  readonly input: unknown;
  readonly provenance: Provenance | undefined;
  readonly signal: AbortSignal;
  /** Where it would run; undefined if the SDK does not say. */
  readonly cwd?: string | undefined;
  /** The agent's session and the agent in it that asks. */
  readonly asker?: Asker | undefined;
}

/** Who makes a call: a subagent has an id, the main agent has none. */
export interface Asker {
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
}

/** The decision. `own`: it is a tool of the session, which passes the gates when it is called. */
export type Decision =
  | { readonly kind: 'own' }
  | { readonly kind: 'allowed'; readonly input: JsonObject; readonly isChanged: boolean }
  | Denial;

interface Denial {
  readonly kind: 'denied';
  readonly reason: string;
}

/** A call about which the agent has asked, and that has not ended. */
interface Open {
  readonly tool: string;
  /** The original input, and the one that may run, as canonical text. */
  readonly asked: string;
  may: string | undefined;
  readonly asker: Asker | undefined;
  readonly cwd: string | undefined;
  /** Never rejects. */
  readonly decision: Promise<Decision>;
  isDenied: boolean;
  permission: Extract<Authorization, { allowed: true }> | undefined;
  /** How often the agent asked about another input under the same id. */
  readonly round: number;
}

/** Decides about calls, and ends them. */
export interface Permissions {
  /** Never rejects. */
  decide(use: ToolUse): Promise<Decision>;
  /** Reports how a call ended. Undefined if it is not open. */
  settle(id: unknown, outcome: ExternalOutcome): Promise<ToolResult> | undefined;
  /** Ends calls that were allowed and did not run. */
  leave(which: (id: string, asker: Asker | undefined) => boolean): void;
  readonly canUseTool: CanUseTool;
}

/** What the permissions of an agent need. */
export interface PermissionParts {
  readonly session: ToolSession;
  readonly own: OwnTools;
  readonly builtIn: BuiltInTools;
  readonly decisionTimeoutMs: number;
}

/** Most calls that are open at a time. */
const maxOpen = 10_000;
const limits = { maxDepth: 64, maxValues: 1_000_000 };

export function permissionsOf(parts: PermissionParts): Permissions {
  const open = new Map<string, Open>();
  const decide = async (use: ToolUse): Promise<Decision> => {
    try {
      return await decideOnce(parts, open, use);
    } catch (error) {
      return denied(`The call could not be decided: ${messageOf(error)}`);
    }
  };
  return {
    decide,
    settle(id, outcome) {
      const one = typeof id === 'string' ? open.get(id) : undefined;
      if (one?.permission === undefined) return undefined;
      open.delete(id as string);
      return one.permission.settle(outcome);
    },
    leave(which) {
      for (const [id, one] of open) {
        if (!which(id, one.asker)) continue;
        open.delete(id);
        abandon(one);
      }
    },
    // What calls this without its options gives the call no id, so it is denied.
    async canUseTool(tool, input, { signal, toolUseID, mcpServer } = {} as never) {
      const decision = await decide({
        id: toolUseID,
        tool,
        input,
        provenance: mcpServer,
        signal,
      });
      if (decision.kind === 'denied') return { behavior: 'deny', message: decision.reason };
      return {
        behavior: 'allow',
        updatedInput: decision.kind === 'own' ? input : { ...decision.input },
      };
    },
  };
}

/** Shares the decision about the same call, and makes a new one for another input. */
function decideOnce(
  parts: PermissionParts,
  open: Map<string, Open>,
  use: ToolUse,
): Promise<Decision> | Decision {
  const { id, tool } = use;
  if (typeof tool !== 'string') return denied('The SDK named no tool.');
  if (parts.own.includes(tool, use.provenance)) return { kind: 'own' };
  if (typeof id !== 'string' || id === '') return denied('The SDK gave the call no id.');
  const copy = copyJson(use.input ?? {}, limits);
  if (!copy.ok || !isJsonObject(copy.value)) return denied('The input is not a JSON object.');
  const input = copy.value;
  const asked = canonicalJson(input);
  const before = open.get(id);
  if (before?.tool === tool && (before.asked === asked || before.may === asked))
    return before.decision;
  if (before !== undefined) abandon(before);
  if (open.size >= maxOpen) {
    forgetDenied(open);
    if (open.size >= maxOpen) return denied(`More than ${maxOpen} calls have not ended.`);
  }
  const round = before === undefined ? 0 : before.round + 1;
  const callId = round === 0 ? id : `${id}~${round}`;
  const cwd = use.cwd ?? before?.cwd;
  const decision = authorize(parts, { ...use, tool, callId, cwd }, input)
    .then((permission): Decision => {
      if ('reason' in permission) return permission;
      if (!permission.allowed) return denied(reasonOf(tool, permission.result));
      one.permission = permission;
      one.may = canonicalJson(permission.input);
      // The agent asked about another input, or has continued, while this call was being decided.
      if (open.get(id) !== one) {
        abandon(one);
        return denied('Another call has taken the place of this one.');
      }
      return { kind: 'allowed', input: permission.input, isChanged: one.may !== asked };
    })
    .catch((error: unknown) => denied(`The call could not be decided: ${messageOf(error)}`))
    .then((decided) => {
      one.isDenied = decided.kind === 'denied';
      return decided;
    });
  const one: Open = {
    tool,
    asked,
    may: undefined,
    asker: use.asker ?? before?.asker,
    cwd,
    decision,
    isDenied: false,
    permission: undefined,
    round,
  };
  open.set(id, one);
  return decision;
}

/** Takes a call through all gates, for as long as it may wait. */
async function authorize(
  { session, own, builtIn, decisionTimeoutMs }: PermissionParts,
  { tool, callId, signal, cwd }: ToolUse & { readonly tool: string; readonly callId: string },
  input: JsonObject,
): Promise<Authorization | Denial> {
  const { shownName = (name: string): string => name } = own.surface;
  builtIn.prepare(tool);
  const forget = cwd === undefined ? undefined : builtIn.locate(callId, cwd);
  const given = new AbortController();
  const stop = (): void => given.abort(signal.reason);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    given.abort();
  }, decisionTimeoutMs);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const permission = await session.authorize(tool, input, {
      callId,
      signal: given.signal,
      // The agent's own tools have no prefix.
      surface: { ...own.surface, shownName: (name) => (name === tool ? tool : shownName(name)) },
    });
    return isLate && !permission.allowed
      ? denied(`The call was not decided within ${decisionTimeoutMs} ms.`)
      : permission;
  } finally {
    // A later abort is the agent's own, which reports itself how the call ended.
    signal.removeEventListener('abort', stop);
    clearTimeout(timer);
    forget?.();
  }
}

function reasonOf(tool: string, { error }: ToolResult): string {
  if (error?.code !== 'tool_not_found') return refusal(error);
  const shown = JSON.stringify(tool.slice(0, 100));
  return (
    `host-tools does not know the tool ${shown} of the Claude Agent SDK. To let it be judged by ` +
    `the rules, register it: defineTool({ name: ${shown}, description: "…", parameters: { type: ` +
    '"object" }, external: true }).'
  );
}

/** The agent has not run it, and will not. */
function abandon({ permission }: Open): void {
  void permission?.settle({ error: 'The agent did not run it.' });
}

function forgetDenied(open: Map<string, Open>): void {
  for (const [id, { isDenied }] of open) if (isDenied) open.delete(id);
}

function denied(reason: string): Denial {
  return { kind: 'denied', reason: reason.toWellFormed() };
}
