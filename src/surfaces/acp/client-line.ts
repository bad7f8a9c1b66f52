/** One connection of a client to an agent: what the agent sends, and who answers it. */
import type {
  AnyMessage,
  ClientApp,
  ClientConnection,
  Stream,
} from '@agentclientprotocol/sdk/unstable';
import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { messageOf } from '../../values/errors/index.ts';
import { logTo } from '../../values/logging.ts';
import type { Place } from '../agents/place.ts';
import type { AcpFiles, AcpTerminals } from './client-handlers.ts';
import { ClientRequests, Refusal } from './client-requests.ts';
import { createGate, type Gate, type OnUnasked } from './gate.ts';
import type { OfferedTools } from './offered-tools.ts';
import { outcomeOf } from './options.ts';
import type { AcpSdk } from './sdk.ts';

/** What a connection needs. */
export interface LineParts {
  readonly sdk: AcpSdk;
  readonly session: ToolSession;
  readonly agent: string;
  readonly onUnasked: OnUnasked;
  readonly place: Place;
  readonly files: AcpFiles;
  readonly terminal: AcpTerminals | undefined;
  readonly tools: OfferedTools;
}

/** A connection. */
export interface ClientLine {
  readonly connection: ClientConnection;
  /** Answers the open questions of an agent's session with `cancelled`, and refuses requests. */
  cancel(sessionId: string): void;
  /** Ends what is open. Idempotent. */
  close(): Promise<void>;
}

export function openLine(parts: LineParts, stream: Stream): ClientLine {
  const { session, agent, onUnasked, place, tools, files, terminal } = parts;
  const requests = new ClientRequests(session, place, files, terminal);
  const gate = createGate({
    agent,
    onUnasked,
    sessionOf: () => session,
    placeOf: () => place,
    isOwn: (tool) => tools.includes(tool),
    stopTurn(sessionId) {
      gate.cancel(sessionId);
      requests.cancel(sessionId);
      void connection.agent.notify('session/cancel', { sessionId }).catch(() => undefined);
    },
    refused(tool, reason) {
      const { logger } = inspectSession(session).registry;
      logTo(logger, 'warn', { tool, reason }, `an ACP agent was refused a call`);
    },
  });
  const paced = new TransformStream<AnyMessage, AnyMessage>({
    async transform(message, controller) {
      controller.enqueue(message);
      await gate.room();
    },
  });
  const connection = appOf(parts, gate, requests).connect({
    readable: stream.readable.pipeThrough(paced),
    writable: stream.writable,
  });
  return {
    connection,
    cancel(sessionId) {
      gate.cancel(sessionId);
      requests.cancel(sessionId);
    },
    async close() {
      connection.close();
      await Promise.all([requests.close(), gate.leave()]);
    },
  };
}

function appOf(
  { sdk, tools, files, terminal }: LineParts,
  gate: Gate,
  requests: ClientRequests,
): ClientApp {
  /** The agent reads why a request is refused, or what a handler of the host threw. */
  const answered = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      const code = error instanceof Refusal ? -32_602 : -32_603;
      throw new sdk.RequestError(code, messageOf(error).toWellFormed());
    });
  const app = sdk
    .client({ name: 'host-tools' })
    .onRequest('session/request_permission', async ({ params, signal }) => {
      const { sessionId, toolCall, options } = params;
      const question = { sessionId, toolCall, options, signal, approver: undefined };
      return outcomeOf(options, await gate.ask(question));
    })
    .onNotification('session/update', ({ params }) => gate.heard(params.sessionId, params.update))
    .onRequest('mcp/message', tools.handleRequest);
  if (files.readTextFile !== undefined)
    app.onRequest('fs/read_text_file', ({ params, signal }) =>
      answered(requests.read(params, signal)),
    );
  if (files.writeTextFile !== undefined)
    app.onRequest('fs/write_text_file', ({ params, signal }) =>
      answered(requests.write(params, signal)),
    );
  if (terminal === undefined) return app;
  return app
    .onRequest('terminal/create', ({ params, signal }) => answered(requests.create(params, signal)))
    .onRequest('terminal/output', ({ params }) => answered(requests.output(params)))
    .onRequest('terminal/wait_for_exit', ({ params }) => answered(requests.waitForExit(params)))
    .onRequest('terminal/kill', ({ params }) => answered(requests.kill(params)))
    .onRequest('terminal/release', ({ params }) => answered(requests.release(params)));
}
