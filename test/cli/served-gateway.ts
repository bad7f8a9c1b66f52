/** Gateways that are served in a test, and their clients. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import { cli } from './cli-run.ts';
import { until } from './until.ts';

/**
 * Serves `gateway.json` of a folder over HTTP, for `ann`.
 * @param asks Whether it has the page of approvals.
 */
export async function serve(path: string, port = '0', words: readonly string[] = [], asks = true) {
  const stop = new AbortController();
  let said = '';
  const ended = cli(['serve', 'gateway.json', '--http', port, '--principal', 'ann', ...words], {
    cwd: path,
    signal: stop.signal,
    onStderr: (text) => {
      said = text;
    },
  });
  const end = async (): Promise<void> => {
    stop.abort();
    expect((await ended).exit).toBe(0);
  };
  onTestFinished(end);
  await until(() => /#token=|Serving MCP/.test(said));
  const mcp = /Serving MCP at (\S+)/.exec(said)?.[1] ?? '';
  await until(() => !asks || said.includes('#token='));
  const [, page = '', token = ''] = /answered at (\S+)#token=(\S+) by/.exec(said) ?? [];
  const ask = async (at: string, body?: object, bearer = token) => {
    const response = await fetch(`${page}api/approvals${at}`, {
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, ...((await response.json()) as object) } as {
      status: number | string;
      approvals?: { id: string; tool: { name: string }; sessionId: string; principal: string }[];
    };
  };
  return { mcp, ask, end, said: () => said, address: `${page}#token=${token}` };
}

/** A client; with an answer, it can be asked. */
export async function connect(url: string, answer?: 'allow_once' | 'reject_once') {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: answer === undefined ? {} : { elicitation: {} } },
  );
  const questions: string[] = [];
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message);
      return { action: 'accept' as const, content: { decision: answer } };
    });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  return {
    client,
    questions,
    remove: async (text: string) =>
      (await client.callTool({ name: 'kept.remove', arguments: { text } })) as {
        readonly content: readonly { readonly text: string }[];
        readonly _meta?: object;
      },
  };
}
