/**
 * One server of the protocol's package over a session. It is the low-level server, which passes
 * schemas and failures on unchanged.
 */
import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  JsonSchemaValidator,
  ListToolsResult,
  Server,
  ServerOptions,
} from '@modelcontextprotocol/server';
import type { ToolSession } from '../../../core.ts';
import { learnDeclared } from '../../shared/declared-facts.ts';
import { heldFor } from '../held-clients.ts';
import { passedOnTo } from '../passed-on.ts';
import { learnerOf } from './acting.ts';
import { listPages, pageOwners, readPage, showsApps, toolsFor } from './apps.ts';
import type { CallContext } from './asking.ts';
import { answerCall } from './call.ts';
import { pageOf } from './list.ts';
import { answerModern } from './modern-call.ts';
import { answerPassedOn, capabilitiesWith, notifyPassedOn, type ReadablePages } from './passing.ts';
import { capabilityPrefix, checkTaskWord, tasksExtension } from './required-capabilities.ts';
import type { Sdk } from './sdk.ts';
import {
  type CallRequest,
  type LogThreshold,
  logLevels,
  type Serving,
  taskMethods,
} from './serving.ts';

/** How a server introduces itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
}

type Params = Readonly<Record<string, unknown>>;

/** A server that listens to its session until `dispose` is called. */
export interface Instance {
  readonly server: Server;
  /** Answers `tools/call`. @throws (rejects with) a violation of the protocol */
  call(params: Params, ctx: CallContext): Promise<CallToolResult | InputRequiredResult>;
  /** How often the tools have changed. */
  changes(): number;
  dispose(): void;
}

interface AnyParams {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: Params };
    readonly types?: { readonly input: Params; readonly output: Params } | undefined;
  };
}

/** Parameters are read here, because the package's own schemas would drop unknown members. */
const anyParams: AnyParams = {
  '~standard': {
    version: 1,
    vendor: 'host-tools',
    validate: (value) => ({ value: value as Params }),
  },
};

/** The caller checks the answers to forms, because the package's validator generates code. */
const noValidator: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (value) => ({ valid: true, data: value as T, errorMessage: undefined });
  },
};

const listChanges = [
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
] satisfies ServerOptions['debouncedNotificationMethods'];

/**
 * Makes a server. It reports changed tools to its client at most once per turn. Longer than 60
 * lines, since it sets one handler after another on the same server.
 */
export function createInstance(
  { name, version, instructions }: ServerInfo,
  serving: Serving,
): Instance {
  const { sdk } = serving;
  const tasks = serving.kept?.tasks;
  const passed = passedOnTo(serving.session);
  // The servers of a gateway may start later than their client.
  const hasPages =
    passed !== undefined || pageOwners(serving.session, toolsFor(serving.session, true)).size > 0;
  const server = new sdk.Server(
    { name, version },
    {
      capabilities: {
        ...capabilitiesWith(passed, hasPages),
        ...(tasks === undefined ? {} : { extensions: { [tasksExtension]: {} } }),
      },
      ...(instructions === undefined ? {} : { instructions }),
      jsonSchemaValidator: noValidator,
      debouncedNotificationMethods: listChanges,
    },
  );
  // The level that a client of the 2025 era has set.
  const log: { level: LogThreshold } = { level: 'debug' };
  let known: unknown;
  const learn = (capabilities: ClientCapabilities | undefined): void => {
    if (!serving.exclusive || capabilities === undefined || capabilities === known) return;
    known = capabilities;
    learnCapabilities(serving.session, capabilities);
  };
  // A client of the 2025 era hears of changes only once it is initialized, or asks for the list.
  const heard = { changes: serving.era !== 'legacy' };
  if (serving.era === 'legacy')
    server.oninitialized = () => {
      heard.changes = true;
      learn(server.getClientCapabilities());
    };
  const { session } = serving;
  const apps = (ctx: CallContext): boolean =>
    showsApps(capabilitiesOf(sdk, server, ctx, serving.era));
  server.setRequestHandler('tools/list', { params: anyParams }, async ({ cursor }, ctx) => {
    learn(capabilitiesOf(sdk, server, ctx, serving.era));
    await heldFor(session);
    heard.changes = true;
    return listTools(sdk, serving, cursor, apps(ctx));
  });
  const call: Instance['call'] = (params, ctx) => {
    const { id, signal } = ctx.mcpReq;
    serving.begun?.(id);
    learn(capabilitiesOf(sdk, server, ctx, serving.era));
    const run = async (): ReturnType<Instance['call']> => {
      const request = callRequest(sdk, server, serving.era, log.level, params, ctx);
      checkTaskWord(serving, request);
      return serving.era === 'modern'
        ? answerModern(serving, request, ctx)
        : answerCall(serving, request, ctx);
    };
    const held = heldFor(session);
    return (held === undefined ? run() : held.then(run)).finally(() => {
      if (signal.aborted) serving.abandoned?.(id);
    });
  };
  server.setRequestHandler('tools/call', { params: anyParams }, call);
  for (const method of tasks === undefined ? [] : taskMethods)
    server.setRequestHandler(method, { params: anyParams }, async (params, ctx) => {
      const capabilities = capabilitiesOf(sdk, server, ctx, serving.era);
      learn(capabilities);
      await heldFor(session);
      return tasks?.answer(method, { params, capabilities, serving, ctx }) ?? {};
    });
  server.setRequestHandler('logging/setLevel', { params: anyParams }, (params) => {
    log.level = wantedLevel(sdk, params.level);
    return {};
  });
  let changes = 0;
  const stop = serving.session.events.on('tools:changed', () => {
    changes++;
    if (heard.changes && server.transport !== undefined)
      server.sendToolListChanged().catch(() => {});
  });
  const pages: ReadablePages = {
    list: (ctx) => listPages(session, toolsFor(session, apps(ctx))),
    read: (uri, ctx) => readPage(session, toolsFor(session, apps(ctx)), uri, ctx.mcpReq.signal),
  };
  answerPassedOn(sdk, passed, hasPages ? pages : undefined, (method, handle) =>
    server.setRequestHandler(method, { params: anyParams }, async (params, ctx) => {
      await heldFor(session);
      return handle(params, ctx);
    }),
  );
  if (passed === undefined) return { server, call, changes: () => changes, dispose: stop };
  const stopTelling = notifyPassedOn(server, passed, () => heard.changes);
  const dispose = (): void => {
    stop();
    stopTelling();
  };
  return { server, call, changes: () => changes, dispose };
}

/** @throws ProtocolError for an unknown level */
function wantedLevel(sdk: Sdk, level: unknown): LogThreshold {
  const wanted = readLevel(level);
  if (wanted === undefined)
    throw new sdk.ProtocolError(
      sdk.INVALID_PARAMS,
      `Expected \`level\` to be one of ${logLevels.slice(0, -1).join(', ')}.`,
    );
  return wanted;
}

function listTools(
  sdk: Sdk,
  { session, makesTasks }: Serving,
  cursor: unknown,
  apps: boolean,
): ListToolsResult {
  const page =
    cursor === undefined || typeof cursor === 'string'
      ? pageOf(session, cursor, { apps, tasks: makesTasks })
      : undefined;
  if (page === undefined)
    throw new sdk.ProtocolError(
      sdk.INVALID_PARAMS,
      'The cursor is not valid. Start again without a cursor.',
    );
  return {
    tools: [...page.tools],
    ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
  };
}

function callRequest(
  sdk: Sdk,
  server: Server,
  era: Serving['era'],
  level: LogThreshold,
  params: Params,
  ctx: CallContext,
): CallRequest {
  return {
    name: params.name as string,
    input: params.arguments,
    capabilities: capabilitiesOf(sdk, server, ctx, era),
    logLevel:
      era === 'legacy' ? level : (readLevel(envelopeOf(ctx)?.[sdk.LOG_LEVEL_META_KEY]) ?? 'off'),
  };
}

function capabilitiesOf(
  sdk: Sdk,
  server: Server,
  ctx: CallContext,
  era: Serving['era'],
): ClientCapabilities | undefined {
  return era === 'legacy'
    ? server.getClientCapabilities()
    : (envelopeOf(ctx)?.[sdk.CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined);
}

/** The metadata that a request of the 2026 era carries. */
function envelopeOf(ctx: CallContext): Readonly<Record<string, unknown>> | undefined {
  return ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
}

function readLevel(value: unknown): LogThreshold | undefined {
  return value === 'off' ? undefined : logLevels.find((level) => level === value);
}

/**
 * Sets the facts of the session. Only for a session that was made for this client, because others
 * would see what it declares.
 */
export function learnCapabilities(session: ToolSession, declared: unknown): void {
  learnDeclared(learnerOf(session), capabilityPrefix, declared);
}
