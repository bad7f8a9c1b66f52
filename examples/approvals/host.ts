/**
 * The host of the example: its tools for agents over MCP at `/mcp`, and the page where a person
 * answers at `/approvals/`. It keeps nothing in memory that has to survive: end it at any time, and
 * start another one in the same folder. `tsx examples/approvals/host.ts FOLDER`
 */
import { randomBytes } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../src/index.ts';
import {
  approvalOutcomeTool,
  createApprovalsHandler,
  fileApprovals,
} from '../../src/surfaces/approvals/index.ts';
import { createMcpHandler, toNodeListener } from '../../src/surfaces/mcp/index.ts';

/** What the host needs to know. */
export interface HostOptions {
  /** Where it keeps approvals, and the ledger. */
  readonly folder: string;
  /** Signs approvals. Every process that shares the folder needs the same one. */
  readonly secret: string;
  /** What the agent proves itself with. */
  readonly agentToken: string;
  /** What the person enters to sign in. */
  readonly password: string;
}

/** The registry: a tool that asks, and the one that tells an agent what came of it. */
function makeRegistry({ folder, secret }: HostOptions): HostToolRegistry {
  const registry: HostToolRegistry = new HostToolRegistry({
    approvals: {
      secret,
      store: fileApprovals({ dir: join(folder, 'approvals') }),
      // Nobody approves what they have asked for.
      fourEyes: true,
      // The session of a call that another process has suspended.
      session: ({ sessionId, principal }) =>
        registry.createSession({
          sessionId,
          principal,
          approvalMode: 'suspend',
          // The page shows the result to the reviewer.
          exposeErrors: 'masked',
        }),
    },
  });
  registry.registerAll([
    defineTool({
      name: 'refund',
      description: 'Pays a customer back.',
      parameters: z.object({ order: z.string(), cents: z.int().positive() }),
      requiresApproval: ({ order, cents }) => ({
        title: `Refund ${(cents / 100).toFixed(2)} EUR for order ${order}?`,
        risk: cents > 50_000 ? 'high' : 'medium',
      }),
      handler: async ({ order, cents }) => {
        await appendFile(join(folder, 'ledger.txt'), `${order} ${cents}\n`);
        return { refunded: cents, receipt: `R-${order}` };
      },
    }),
    approvalOutcomeTool(registry),
  ]);
  return registry;
}

/** Listens on a free port of the loopback. */
export async function startHost(options: HostOptions): Promise<Server> {
  const registry = makeRegistry(options);
  const agents = new Map([[`Bearer ${options.agentToken}`, 'support-agent']]);
  const mcp = createMcpHandler(
    ({ principal = '' }) =>
      registry.createSession({
        // The same after a restart: by it, the agent finds its suspended calls again.
        sessionId: `mcp:${principal}`,
        principal,
        approvalMode: 'suspend',
      }),
    {
      name: 'support desk',
      version: '1.0.0',
      authenticate: ({ headers }) => agents.get(headers.get('authorization') ?? ''),
      // The agent's own client must not approve what the agent asks for.
      approvals: 'host',
    },
  );
  const desk = signIn(options.password);
  const inbox = createApprovalsHandler(registry, {
    authenticate: desk.whoSent,
    basePath: '/approvals',
  });
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/mcp') return mcp.fetch(request);
    if (pathname === '/sign-in') return desk.answer(request);
    const response = await inbox.fetch(request);
    return response.status === 401 && request.headers.get('accept')?.includes('text/html')
      ? new Response(null, { status: 303, headers: { location: '/sign-in' } })
      : response;
  };
  const server = createServer(toNodeListener({ fetch }));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

/** One person with a password, and cookies of this process. Your application has its own way. */
function signIn(password: string) {
  const cookies = new Map<string, string>();
  const form =
    '<!doctype html><html lang="en"><title>Sign in</title><form method="post">' +
    '<label>Password <input type="password" name="password"></label><button>Sign ' +
    'in</button></form>';
  return {
    whoSent({ headers }: Request): string | undefined {
      const cookie = /(?:^|;\s*)desk=([\w-]+)/.exec(headers.get('cookie') ?? '')?.[1];
      return cookies.get(cookie ?? '');
    },
    async answer(request: Request): Promise<Response> {
      const given =
        request.method === 'POST' ? new URLSearchParams(await request.text()) : undefined;
      if (given?.get('password') !== password)
        return new Response(form, { headers: { 'content-type': 'text/html; charset=utf-8' } });
      const cookie = randomBytes(32).toString('base64url');
      cookies.set(cookie, 'bob');
      const headers = {
        location: '/approvals/',
        // Over TLS, add `Secure`.
        'set-cookie': `desk=${cookie}; HttpOnly; SameSite=Strict; Path=/`,
      };
      return new Response(null, { status: 303, headers });
    },
  };
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href) {
  const { APPROVAL_SECRET = '', AGENT_TOKEN = '', DESK_PASSWORD = '' } = process.env;
  const server = await startHost({
    folder: process.argv[2] ?? '',
    secret: APPROVAL_SECRET,
    agentToken: AGENT_TOKEN,
    password: DESK_PASSWORD,
  });
  const address = server.address();
  process.stdout.write(
    `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''} ${process.pid}\n`,
  );
}
