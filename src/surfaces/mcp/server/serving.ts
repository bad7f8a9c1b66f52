/** What all calls of a server instance share, and how they show themselves to the session. */
import type { CallToolResult, ClientCapabilities } from '@modelcontextprotocol/server';
import type {
  Approver,
  JsonObject,
  LogLevel,
  PendingApproval,
  Surface,
  SurfaceClient,
  ToolResult,
  ToolSession,
  TraceContext,
} from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { listingOf } from '../../shared/listing.ts';
import { showsApps } from './apps.ts';
import type { CallContext } from './asking.ts';
import { toCallToolResult } from './content.ts';
import { mcpDialect } from './list.ts';
import type { OpenCall } from './open-call.ts';
import type { CallOwner, ParkedCalls } from './parked-calls.ts';
import type { RpcMessage } from './rpc.ts';
import type { Sdk } from './sdk.ts';

/** What all calls of a server instance share. */
export interface Serving {
  readonly sdk: Sdk;
  readonly session: ToolSession;
  readonly era: 'legacy' | 'modern';
  readonly exposeErrors: 'message' | 'masked';
  /** True if no other client calls through the session. */
  readonly exclusive: boolean;
  /** True if the client's user answers approvals. */
  readonly clientApproves: boolean;
  /** Put before every call id, so that two clients of one session never use the same id. */
  readonly idPrefix: string;
  /** False if no call becomes a task here, whatever its client knows. */
  readonly makesTasks: boolean;
  /** Calls that outlive their requests. Undefined in the 2025 era. */
  readonly kept?: KeptCalls | undefined;
  /** Called when the client's user is asked whether a tool may run, in the call of a request. */
  asked?(id: string | number, tool: string): void;
  /** Called when the handler of a request begins. */
  begun?(id: string | number): void;
  /** Called when the call of a cancelled request has ended. Nothing answers such a request. */
  abandoned?(id: string | number): void;
}

/** Calls that outlive their requests, and whose they are. */
export interface KeptCalls {
  readonly parked: ParkedCalls;
  /** Undefined if no call becomes a task. */
  readonly tasks: Tasks | undefined;
  readonly owner: CallOwner;
  /** Keeps the session open until the returned function is called. */
  hold(): () => void;
}

/** The call that becomes a task. */
export interface TaskAbout {
  readonly serving: Serving;
  /** What the client calls the tool. */
  readonly name: string;
  /** Whether the client's user can be asked for approval. */
  readonly asks: boolean;
}

/** Tasks of a handler. */
export interface Tasks {
  /** Milliseconds after which a call that may be a task becomes one. */
  readonly afterMs: number;
  /**
   * Lets a running call go on as a task. Gives the result that says so; undefined if there is no
   * room, or the store failed, which is reported.
   */
  run(call: OpenCall, about: TaskAbout): Promise<JsonObject | undefined>;
  /** The same for a call that waits for approval. */
  suspended(approval: PendingApproval, about: TaskAbout): Promise<JsonObject | undefined>;
  /** Answers a request about a task. @throws (rejects with) an error of the protocol */
  answer(method: TaskMethod, request: TaskRequest): Promise<TaskAnswer>;
  /**
   * The tools whose calls a message asks about, or answers for. None for one that only cancels, and
   * of a task that is not there or is somebody else's.
   */
  toolsOf(
    message: RpcMessage | undefined,
    owner: CallOwner,
    session: ToolSession,
  ): Promise<readonly string[]>;
  /** Ends the calls that run here. Their tasks fail. */
  close(): Promise<void>;
}

/** What a request about a task is answered. */
export type TaskAnswer = Record<string, unknown>;

/** The requests about tasks. */
export const taskMethods = ['tasks/get', 'tasks/update', 'tasks/cancel'] as const;
type TaskMethod = (typeof taskMethods)[number];

/** A request about a task. */
export interface TaskRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly capabilities: ClientCapabilities | undefined;
  readonly serving: Serving;
  readonly ctx: CallContext;
}

/** The contents of a request. */
export interface CallRequest {
  readonly name: string;
  readonly input: unknown;
  readonly capabilities: ClientCapabilities | undefined;
  readonly logLevel: LogThreshold;
}

/** The mildest level that the client wants; `off` if it asked for no messages. */
export type LogThreshold = LogLevel | 'critical' | 'alert' | 'emergency' | 'off';

/** Mildest first, in the order of the protocol. */
export const logLevels: readonly LogThreshold[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
  'off',
];

/** The id of the tool that a client calls by a name. */
export function calledTool(session: ToolSession, name: string): string {
  return listingOf(session, mcpDialect).known.get(name) ?? name;
}

/** How a call through a request looks to the session. */
export function surfaceOf(
  { session, exposeErrors }: Serving,
  { name, capabilities }: Pick<CallRequest, 'name' | 'capabilities'>,
  ctx: CallContext,
  more: { client?: SurfaceClient | undefined; approver?: Approver | undefined; started?(): void },
): Surface {
  const { shownName } = listingOf(session, mcpDialect);
  const called = calledTool(session, name);
  // A client that shows apps calls such a tool only for an app, and keeps it from its model.
  const ofApp = showsApps(capabilities)
    ? inspectSession(session).appTools.find((one) => one.name === called)
    : undefined;
  return {
    ...(ofApp === undefined ? { name: 'mcp' } : { name: 'app', source: ofApp.source }),
    outside: true,
    exposeErrors,
    ...more,
    // The called tool keeps the name that the client used. Another name would reveal to an outsider
    // that a tool exists that it may not see.
    shownName: (one) => (one === called ? name : shownName(one)),
    // Its form is checked by those who read it.
    traceContext: ctx.mcpReq._meta as TraceContext | undefined,
    scopes: ctx.http?.authInfo?.scopes,
  };
}

/** The tool of `host-tools/approvals` that returns the outcome of a suspended call. */
const outcomeTool = 'approval_outcome';

/** @param mayAsk false if the call waits because the client cannot ask its user */
export function shownResult(
  session: ToolSession,
  result: ToolResult,
  mayAsk: boolean,
): CallToolResult {
  const waits = !result.success && result.error.code === 'approval_pending';
  return toCallToolResult(
    session,
    result,
    waits ? pendingNote(session, result.approval?.id, mayAsk) : undefined,
  );
}

function pendingNote(session: ToolSession, id: string | undefined, mayAsk: boolean): string {
  const later =
    session.tool(outcomeTool) === undefined
      ? ''
      : ` \`${outcomeTool}\` with this id says later how it ended.`;
  return mayAsk
    ? hostNote(id) + later
    : `${hostNote(id)}${later} This client cannot ask its user, because it does not support ` +
        'elicitation.';
}

/** Says where a question is answered that the client's user is not asked. */
export function hostNote(id: string | undefined): string {
  return (
    'A person must answer it in the host ' +
    `application${id === undefined ? '' : ` (approval ${id})`}, which then runs the call.`
  );
}
