/** The handshake with a server over any transport, and the link that results from it. */
import type { Client, Transport } from '@modelcontextprotocol/client';
import { messageOf } from '../../../values/errors/index.ts';
import { packageVersion } from '../../../values/packages/own-version.ts';
import { connectionFault } from '../../shared/executor-fault.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { DirectCalls } from './direct-calls.ts';
import type { Link, OpenOptions } from './link.ts';
import { halfPackageHint, loadSdk } from './sdk.ts';
import { askUnread, boundAnswers } from './storms.ts';

/** What a handshake needs. */
export interface HandshakeParts {
  readonly transport: Transport;
  /** Names the server in messages. */
  readonly place: string;
  /**
   * Milliseconds that the server has to say which protocol era it supports. If undefined, it is not
   * asked, and the handshake is that of the 2025 era.
   */
  readonly probeMs: number | undefined;
  /** The end of what the server wrote to standard error, as one clean line. */
  readonly stderr: () => string;
  /** The bound that a message of the server has exceeded; undefined if none has. */
  readonly excess: () => string | undefined;
  /** Makes calls of the 2025 era. @default the client makes them */
  readonly direct?: DirectCalls | undefined;
}

/** Connects a new client over the transport. @throws ConnectionFault */
export async function shakeHands(parts: HandshakeParts, options: OpenOptions): Promise<Link> {
  const { transport, place, probeMs } = parts;
  const { handshakeMs, signal } = options;
  const client = await createClient(probeMs, options);
  boundAnswers(transport);
  const link = linkOver(client, parts);
  client.onclose = () => {
    link.drop();
    parts.direct?.end();
  };
  // Errors that end a call reach it as its own rejection. All others can be ignored.
  client.onerror = () => {};
  try {
    const era = probeMs === undefined ? { prior: { kind: 'legacy' as const } } : {};
    await unlessAborted(
      client.connect(transport, { timeout: handshakeMs, signal, ...era }),
      signal,
    );
    keepOrder(transport);
  } catch (error) {
    await link.close();
    const stderr = parts.stderr();
    throw connectionFault(
      `Cannot connect to the MCP server ${place}: ${cleanLine(messageOf(error), 500)}` +
        `${stderr === '' ? '' : ` Its standard error ends with: ${stderr}`}` +
        halfPackageHint(stderr),
      error,
    );
  }
  return link;
}

/** Some servers list the tools of their apps only for clients that say this. */
const showsApps = {
  'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] },
};

async function createClient(
  probeMs: number | undefined,
  { toolsChanged, othersChanged, questions, apps }: OpenOptions,
): Promise<Client> {
  const { Client: SdkClient } = await loadSdk();
  const telling = (kind: 'prompts' | 'resources') => ({
    autoRefresh: false,
    onChanged: () => othersChanged?.(kind),
  });
  const client = new SdkClient(
    { name: 'host-tools', version: packageVersion },
    {
      // Without capabilities, the server cannot ask the host's model or user for anything.
      capabilities: {
        ...(questions?.elicitation === true ? { elicitation: { form: {} } } : {}),
        ...(questions?.sampling === true ? { sampling: {} } : {}),
        ...(apps === true ? { extensions: showsApps } : {}),
      },
      ...(probeMs === undefined
        ? {}
        : { versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs } } }),
      // Schemas from outside must never reach a validator that generates code. Our own validator
      // checks the outputs.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({
          valid: true,
          data: input as never,
          errorMessage: undefined,
        }),
      },
      listChanged: {
        tools: { autoRefresh: false, onChanged: () => toolsChanged() },
        ...(othersChanged === undefined
          ? {}
          : { prompts: telling('prompts'), resources: telling('resources') }),
      },
    },
  );
  // The SDK would check a question with its own schema and describe every part that is wrong, at
  // any length.
  if (questions !== undefined)
    client.fallbackRequestHandler = ({ method, params }) => questions.answer(method, params);
  return client;
}

function linkOver(client: Client, { transport, excess, direct }: HandshakeParts): Link {
  let state: 'open' | 'lost' | 'closing' = 'open';
  let closing: Promise<void> | undefined;
  const end = (): Promise<void> => {
    closing ??= client
      .close()
      .catch(() => {})
      // The client drops a transport whose connection failed. Whatever the transport started must
      // still end.
      .then(() => transport.close())
      .catch(() => {});
    return closing;
  };
  const link: Link = {
    client: askUnread(client, transport),
    get direct() {
      return client.getProtocolEra() === 'legacy' ? direct : undefined;
    },
    onlost: undefined,
    get lost() {
      return state !== 'open';
    },
    get excess() {
      return excess();
    },
    drop() {
      if (state !== 'open') return;
      state = 'lost';
      void end();
      link.onlost?.();
    },
    close() {
      state = 'closing';
      return end();
    },
  };
  return link;
}

/**
 * The SDK handles an answer at once but notifications a moment later, so progress that arrives just
 * before its answer would be lost. Answers are delayed to keep the order.
 */
function keepOrder(transport: Transport): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if ('method' in message) receive?.(message, extra);
    else queueMicrotask(() => receive?.(message, extra));
  };
}

/** The SDK's probe for the protocol era takes no signal. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void =>
      reject(connectionFault('The connection was closed during the handshake.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
