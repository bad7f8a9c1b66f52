/** `serve`: serves the tools of the command line to MCP clients. */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { userInfo } from 'node:os';
import type { ToolSession } from '../core.ts';
import type { Store } from '../extend.ts';
import {
  createMcpHandler,
  type McpAuthorization,
  type McpCaller,
  serveMcpStdio,
  toNodeListener,
} from '../surfaces/mcp/index.ts';
import { sha256 } from '../values/crypto.ts';
import { messageOf } from '../values/errors/index.ts';
import { loopbackNames } from '../values/http/web-address.ts';
import { packageVersion } from '../values/packages/own-version.ts';
import type { CliIo } from './cli-io.ts';
import { type Answer, type Command, worldOptions } from './command.ts';
import { untilInterrupted, usageFault } from './fault.ts';
import { listen, untilAborted } from './listen.ts';
import type { Options } from './options.ts';
import type { Screen } from './screen.ts';
import { approvalsPath, serveApprovals } from './serve-approvals.ts';
import { authorizationBy, metadataPaths } from './serve-authorization.ts';
import { metricsHandler } from './serve-metrics.ts';
import { driversOf } from './store/open-store.ts';
import type { SessionWish, World } from './world.ts';

/** How the tools are served over HTTP. */
interface OverHttp {
  readonly metrics: boolean;
  readonly store: Store | undefined;
  readonly authorization: McpAuthorization | undefined;
  readonly allowedHosts: readonly string[];
}

/** The address to listen at. */
interface Address {
  /** Without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
}

const path = '/mcp';
const metricsPath = '/metrics';
/** After an interruption: milliseconds for the answers to calls to reach their clients. */
const graceMs = 5_000;
/** Standard output is used for the protocol. */
const done: Answer = { exit: 0, text: '', json: null, silent: true };

const noClient =
  'Standard input ended before a request was answered, so no client was served. An MCP client ' +
  'starts this command itself and keeps its input open. To serve over HTTP, give `--http PORT`.';

export const serve: Command = {
  name: 'serve',
  usage: '[FILE] [--http [HOST:]PORT] [--metrics]',
  summary: 'serve the tools to MCP clients, over stdio or HTTP',
  notes: [
    '`serve FILE` is the same as `serve --host-tools FILE`. MCP servers that FILE names are ' +
      'started, and their tools are served with its rules.',
    'Files are watched. An edit takes effect if all of it loads.',
    'Over stdio, it ends when its client disconnects. Standard output carries only the protocol.',
    'An interruption cancels the calls in flight, answers them, and then ends the command.',
    'With `approvals` in a file, a call is kept if nobody can be asked about it.',
    `With --http, it serves at ${path} until it is interrupted. Anyone who can reach the ` +
      'address can call the tools, so keep it on the loopback interface.',
    'Or require tokens: with `authorization` in a file, or with --issuer and --audience.',
  ],
  options: [
    ...worldOptions,
    'store',
    'http',
    'allowed-host',
    'issuer',
    'audience',
    'jwks-url',
    'scopes',
    'metrics',
    'principal',
    'pin',
  ],
  operands: ['[FILE]'],
  packages: (options) => [
    '@modelcontextprotocol/server',
    ...(options.oauth.issuer === undefined ? [] : (['jose'] as const)),
    ...driversOf(options),
  ],
  loadsWord: true,
  gateway: { records: true, serves: true },
  keeps: true,
  runsPrograms: true,
  async run({ io, screen, options, world, store }) {
    const address =
      options.listen.http === undefined ? undefined : readAddress(options.listen.http);
    if (address === undefined) refuseHttpOptions(options);
    const flagged = authorizationBy(options);
    const loaded = await world();
    loaded.requireRules();
    const { authorization: filed } = loaded.gateway;
    if (flagged !== undefined && filed !== undefined)
      throw usageFault('Tokens are taken by `--issuer` or by `authorization` in a file, not both.');
    const authorization = flagged ?? filed;
    // The session is opened here, so that an unknown profile ends the command instead of each
    // client's session.
    const principal = options.session.principal ?? systemUser();
    const session = loaded.session(sessionWish(loaded, principal));
    if (address !== undefined) {
      await session.close();
      // Clients over stdio connect at once, because most of them do not wait long for that.
      await untilInterrupted(loaded.served, io.signal);
      return overHttp(loaded, address, principal, io, screen, {
        metrics: options.listen.metrics,
        allowedHosts: options.listen.allowedHosts,
        store: store?.store,
        authorization,
      });
    }
    if (authorization !== undefined)
      screen.note('warning: `authorization` is for clients over HTTP: serve with `--http`.');
    if (loaded.gateway.approvals?.page === true)
      screen.note('warning: the page of `approvals` needs an address: serve it with `--http`.');
    let answered = false;
    const served = serveMcpStdio(session, {
      version: packageVersion,
      stdin: io.stdin,
      stdout: {
        write(text, done) {
          answered = true;
          return io.stdout.write(text, done);
        },
      },
    });
    await untilAborted(io.signal, served.closed);
    if (!answered && !io.signal.aborted) screen.note(noClient);
    if (io.signal.aborted) {
      void session.close();
      // The end of input ends the connection once every call is answered, or after the connection's
      // own limit.
      io.stdin.destroy();
      await served.closed;
    }
    await served.close();
    return done;
  },
};

/**
 * Longer than 60 lines, since it is one sequence: it opens the server, answers requests until the
 * signal aborts, and closes everything in order.
 */
async function overHttp(
  loaded: World,
  { host, port }: Address,
  principal: string,
  io: CliIo,
  screen: Screen,
  { metrics, store, authorization, allowedHosts: also }: OverHttp,
): Promise<Answer> {
  const shown = host.includes(':') ? `[${host}]` : host;
  const resource = authorization?.resource;
  const allowedHosts = [
    ...loopbackNames,
    shown,
    ...also,
    ...(resource === undefined ? [] : [new URL(resource).hostname]),
  ];
  const sessions = new Set<ToolSession>();
  const openSession = ({ era, principal: bearer, scopes }: McpCaller): ToolSession => {
    const whose = bearer ?? principal;
    // A client of the 2026 era asks for an approval between two requests, so the call is suspended
    // meanwhile, and looked up by the id of the session. Without tokens, all clients are one.
    const session = loaded.session({
      ...(era === 'modern'
        ? {
            approvalMode: 'suspend',
            principal: whose,
            // Ids are shown, so they do not repeat whom a token is for.
            ...(bearer === undefined ? {} : { sessionId: `cli-${sha256(bearer).slice(0, 32)}` }),
          }
        : sessionWish(loaded, whose)),
      scopes,
    });
    sessions.add(session);
    session.events.on('session:end', () => sessions.delete(session));
    return session;
  };
  const handler = createMcpHandler(openSession, {
    version: packageVersion,
    allowedHosts,
    authorization,
    store,
    onError: (error) => screen.note(`warning: ${messageOf(error)}`),
  });
  // This request comes before the address is shown, because without its package every request would
  // fail.
  await handler.fetch(new Request(`http://localhost${path}`, { method: 'OPTIONS' }));
  const answer = toNodeListener(handler);
  const counts = metrics
    ? toNodeListener(metricsHandler(loaded.registry, allowedHosts))
    : undefined;
  const approvals =
    loaded.gateway.approvals?.page === true
      ? serveApprovals(loaded.registry, principal, allowedHosts)
      : undefined;
  const paths = new Set<string | undefined>([path, ...metadataPaths(authorization, path)]);
  const unanswered = new Set<ServerResponse>();
  // Slow requests are not waited for.
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 60_000 },
    (request, response) => {
      const asked = request.url?.split('?', 1)[0];
      if (asked === metricsPath && counts !== undefined) counts(request, response);
      else if (approvals !== undefined && `${asked}/`.startsWith(`${approvalsPath}/`))
        approvals.listener(request, response);
      else if (paths.has(asked)) {
        // Other requests are streams, which end with the server.
        if (request.method === 'POST') {
          unanswered.add(response);
          response.once('close', () => unanswered.delete(response));
        }
        answer(request, response);
      } else response.writeHead(404, { 'Content-Type': 'text/plain' }).end(`MCP is at ${path}.\n`);
    },
  );
  const at = await listen(server, host, port);
  screen.note(`Serving MCP at http://${shown}:${at.port}${path}`);
  if (metrics) screen.note(`Serving counts at http://${shown}:${at.port}${metricsPath}`);
  if (approvals !== undefined)
    screen.note(
      `Approvals are answered at http://${shown}:${at.port}${approvalsPath}/#token=` +
        `${approvals.token} by whoever has this address.`,
    );
  if (!loopbackNames.has(shown) && authorization === undefined)
    screen.note(
      'warning: this address is not the loopback, so anyone who can reach it can call the tools.',
    );
  await untilAborted(io.signal);
  const closed = new Promise((resolve) => server.close(resolve));
  await Promise.all([...sessions].map((session) => session.close()));
  await allClosed(unanswered);
  await handler.close();
  server.closeAllConnections();
  await closed;
  return done;
}

/** @throws CliFault 2 for an option that has no meaning over stdio */
function refuseHttpOptions({
  session: { facts },
  listen: { metrics, allowedHosts },
  oauth: { issuer },
}: Options): void {
  if (facts === '-')
    throw usageFault('Standard input carries the protocol: give `--facts` as JSON or `@FILE`.');
  if (metrics) throw usageFault('`--metrics` needs `--http`: counts are served at an address.');
  if (issuer !== undefined)
    throw usageFault('`--issuer` needs `--http`: over stdio, the client starts the server.');
  if (allowedHosts.length > 0)
    throw usageFault('`--allowed-host` needs `--http`: over stdio, no request names a host.');
}

/**
 * Each client's session has its own id, so that the answer to a kept call finds the session that
 * made the call, and a server's question finds its client. A client that supports questions is
 * asked about a kept call at once.
 */
function sessionWish({ gateway }: World, principal: string): SessionWish {
  const sessionId = `cli-${randomUUID()}`;
  return gateway.approvals === undefined
    ? { principal, sessionId }
    : { principal, sessionId, approvalMode: 'suspend' };
}

/** The name of the user as whom the command runs. A container may have none. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'local';
  }
}

/** Waits until each response is sent or its client is gone, but at most {@link graceMs}. */
async function allClosed(responses: ReadonlySet<ServerResponse>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([
    late,
    Promise.all(
      [...responses].map((response) => new Promise((resolve) => response.once('close', resolve))),
    ),
  ]);
  clearTimeout(timer);
}

/** @throws CliFault 2 */
function readAddress(text: string): Address {
  const [, bracketed, plain, digits = ''] =
    /^(?:(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):)?(\d{1,5})$/i.exec(text) ?? [];
  const port = digits === '' ? Number.NaN : Number(digits);
  if (!(port <= 65_535))
    throw usageFault(
      `Expected \`--http\` to be PORT or HOST:PORT, with a port up to 65535, got ` +
        `\`${text.slice(0, 60)}\`.`,
    );
  return { host: bracketed ?? plain?.toLowerCase() ?? '127.0.0.1', port };
}
