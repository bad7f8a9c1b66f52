/** The agent's side of the Agent Client Protocol: a session whose client is the other end. */
import { type AnyTool, type Approver, defineTool, type ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import {
  checkOption,
  kind,
  readOptions,
  required,
  type TableOf,
  text,
  withMethods,
} from '../../values/options/index.ts';
import { learnDeclared } from '../shared/declared-facts.ts';
import { chosenKind, isChoice } from './options.ts';

/** The end of a connection that leads to the client: `client` of a handler of the SDK. */
export interface AcpPeer {
  /** Sends a request to the client. */
  request(
    method: string,
    params?: object,
    options?: { readonly cancellationSignal?: AbortSignal },
  ): Promise<unknown>;
}

/** Options of {@link fromAcpConnection}. */
export interface AcpConnectionOptions {
  /** The id of the agent's session, as its answer to `session/new` has it. */
  readonly sessionId: string;
  /** What the client has declared in `initialize`. @default it offers nothing */
  readonly clientCapabilities?: object | undefined;
  /** The beginning of the names of the client's tools. @default "ide_" */
  readonly prefix?: string | undefined;
}

/** A session that uses its client. */
export interface AcpAgentSession {
  /** The session itself. */
  readonly session: ToolSession;
  /** Takes back the tools, the facts and the approver. The session stays open. Idempotent. */
  close(): void;
}

const where = 'fromAcpConnection';
const optionTable = {
  sessionId: required(text(1)),
  clientCapabilities: kind<object>('an object', isJsonObject),
  prefix: text(0),
} satisfies TableOf<AcpConnectionOptions>;

const facts = 'client.capabilities.';
const options = [
  { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'allow_always', name: 'Always allow this call', kind: 'allow_always' },
  { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
  { optionId: 'reject_always', name: 'Always reject this call', kind: 'reject_always' },
];

/**
 * Lets a session use the client that is connected: it asks people by `session/request_permission`
 * where the session has no approver, the capabilities of the client become facts, and its files and
 * terminals are tools that require them. Call it in the handler of `session/new`.
 * @throws MisuseError `invalid_option` for any other value and for unknown options, and as
 * `session.register` does for names that are taken.
 *
 * @example
 * ```ts
 * import { fromAcpConnection } from 'host-tools/acp';
 *
 * // `client` is that of the SDK's handler of `session/new`.
 * const client = { request: async () => ({ content: 'text' }) };
 * const clientCapabilities = { fs: { readTextFile: true } };
 * const acp = fromAcpConnection(client, session, { sessionId: 's1', clientCapabilities });
 * console.log(acp.session.tools().some(({ name }) => name === 'ide_read_file')); // true
 * acp.close();
 * ```
 */
export function fromAcpConnection(
  connection: AcpPeer,
  session: ToolSession,
  options: AcpConnectionOptions,
): AcpAgentSession {
  checkOption(where, 'connection', connection, withMethods<AcpPeer>(['request']));
  const {
    sessionId,
    clientCapabilities,
    prefix = 'ide_',
  } = readOptions(where, options, optionTable);
  const view = inspectSession(session);
  const ask: AskClient = async (method, params, cancellationSignal) => {
    const more = cancellationSignal === undefined ? {} : { cancellationSignal };
    const answer = (await connection.request(method, { sessionId, ...params }, more)) ?? {};
    if (!isJsonObject(answer)) throw new TypeError('The client answered with something else.');
    return answer;
  };
  const made = clientTools(prefix, ask).map((tool) => session.register(tool));
  learnDeclared(session, facts, clientCapabilities);
  const takeBack = view.lendApprover(approverBy(ask));
  return Object.freeze({
    session,
    close() {
      takeBack();
      if (view.closed) return;
      for (const one of made) one.unregister();
      learnDeclared(session, facts, undefined);
    },
  });
}

type AskClient = (
  method: string,
  params: object,
  cancellationSignal?: AbortSignal,
) => Promise<JsonObject>;

function approverBy(ask: AskClient): Approver {
  return async ({ callId, title, summary = title, message, input }, { signal }) => {
    const content =
      message === undefined ? [] : [{ type: 'content', content: { type: 'text', text: message } }];
    const toolCall = { toolCallId: callId, title: summary, status: 'pending', rawInput: input };
    const params = { toolCall: { ...toolCall, content }, options };
    const answer = await ask('session/request_permission', params, signal);
    const decision = chosenKind(options, answer);
    return isChoice(decision) ? { decision, by: 'the user of the client' } : 'reject_once';
  };
}

function clientTools(prefix: string, ask: AskClient): readonly AnyTool<unknown>[] {
  const string = { type: 'string' } as const;
  const closed = { type: 'object', additionalProperties: false } as const;
  const lines = { type: 'integer', minimum: 1 } as const;
  return [
    defineTool({
      name: `${prefix}read_file`,
      description: 'Reads a text file in the editor, with changes that are not saved yet.',
      parameters: {
        ...closed,
        properties: { path: string, line: lines, limit: lines },
        required: ['path'],
      },
      annotations: { readOnly: true },
      requires: [{ fact: `${facts}fs.readTextFile`, equals: true }],
      handler: async (input) => (await ask('fs/read_text_file', input as object)).content ?? '',
    }),
    defineTool({
      name: `${prefix}write_file`,
      description: 'Writes a text file by the editor.',
      parameters: {
        ...closed,
        properties: { path: string, content: string },
        required: ['path', 'content'],
      },
      annotations: { destructive: true },
      requires: [{ fact: `${facts}fs.writeTextFile`, equals: true }],
      handler: async (input) => void (await ask('fs/write_text_file', input as object)),
    }),
    defineTool({
      name: `${prefix}terminal`,
      description: 'Runs a command in a terminal of the editor, and waits until it has ended.',
      parameters: {
        ...closed,
        properties: { command: string, args: { type: 'array', items: string }, cwd: string },
        required: ['command'],
      },
      annotations: { destructive: true, openWorld: true },
      requires: [{ fact: `${facts}terminal`, equals: true }],
      handler: (input, { signal }) => runIn(ask, input as object, signal),
    }),
  ] as AnyTool<unknown>[];
}

/** Runs a command in a terminal, which is released also if the call ends early. */
async function runIn(ask: AskClient, input: object, signal: AbortSignal): Promise<JsonObject> {
  const { terminalId } = await ask('terminal/create', input);
  let released: Promise<unknown> | undefined;
  const release = (): Promise<unknown> => {
    released ??= ask('terminal/release', { terminalId }).catch(() => undefined);
    return released;
  };
  signal.addEventListener('abort', release, { once: true });
  try {
    // The call may have ended while the terminal was made.
    signal.throwIfAborted();
    const { exitCode = null, signal: by = null } = await ask('terminal/wait_for_exit', {
      terminalId,
    });
    const { output = '', truncated = false } = await ask('terminal/output', { terminalId });
    return { output, exitCode, signal: by, truncated };
  } finally {
    signal.removeEventListener('abort', release);
    await release();
  }
}
